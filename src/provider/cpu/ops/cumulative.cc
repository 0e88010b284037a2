#include <algorithm>
#include <type_traits>

#include "provider/cpu/axis_split.h"
#include "provider/cpu/families.h"

namespace sardonyx::provider::cpu {
namespace {

using CumulativeTypes = Types<float, double, Half, BFloat16, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>;

/// Running sum or product of `length` elements that lie `stride` apart (negative: from the back).
template <typename T, bool kProduct>
void run_along(const T* x, T* y, std::int64_t length, std::int64_t stride, bool exclusive) {
  using Acc = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                          std::type_identity<compute_type<T>>>::type;
  Acc total = kProduct ? 1 : 0;
  for (std::int64_t i = 0; i < length; ++i) {
    const auto value = static_cast<Acc>(static_cast<compute_type<T>>(x[i * stride]));
    const Acc before = total;
    if constexpr (kProduct)
      total *= value;
    else
      total += value;
    y[i * stride] = T(exclusive ? before : total);
  }
}

template <bool kProduct>
class CumulativeKernel final : public Kernel {
 public:
  explicit CumulativeKernel(const NodeDesc& node)
      : exclusive_(node.attributes->get_int("exclusive", 0) != 0),
        reverse_(node.attributes->get_int("reverse", 0) != 0) {}

  void run(RunContext& context) const override {
    const TensorView &x = context.input(0), &axis = context.input(1), &y = context.output(0);
    if (axis.num_elements() != 1)
      fail(ErrorCode::kInvalidArgument, "axis must be one number, found shape {}", axis.shape.to_string());
    const std::int64_t number =
        axis.type == ElementType::kInt32 ? *axis.data<std::int32_t>() : *axis.data<std::int64_t>();
    const AxisSplit split = split_at_axis(x.shape, number);
    if (x.num_elements() == 0) return;
    const std::int64_t stride = reverse_ ? -split.inner : split.inner;
    const std::int64_t start = reverse_ ? (split.length - 1) * split.inner : 0;
    dispatch(CumulativeTypes{}, x.type, "this operator", [&]<typename T>() {
      const T* in = x.data<T>();
      T* out = y.mutable_data<T>();
      const auto chunk =
          static_cast<std::size_t>(std::max<std::int64_t>(1, static_cast<std::int64_t>(kElementChunk) / split.length));
      context.parallel.parallel_for(
          static_cast<std::size_t>(split.outer * split.inner), chunk, [&](std::size_t begin, std::size_t end) {
            for (auto u = static_cast<std::int64_t>(begin); u < static_cast<std::int64_t>(end); ++u) {
              const std::int64_t at = u / split.inner * split.length * split.inner + u % split.inner + start;
              run_along<T, kProduct>(in + at, out + at, split.length, stride, exclusive_);
            }
          });
    });
  }

 private:
  bool exclusive_, reverse_;
};

Support supports_cumulative(const NodeDesc& node) {
  return is_one_of(CumulativeTypes{}, node.input_type(0)) ? Support::accept() : decline_type(node, 0);
}

}  // namespace

void add_cumulative_kernels(KernelTable& table) {
  table.push_back({"", "CumSum", supports_cumulative, make<CumulativeKernel<false>>});
  table.push_back({"", "CumProd", supports_cumulative, make<CumulativeKernel<true>>});
}

}  // namespace sardonyx::provider::cpu
