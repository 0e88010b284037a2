#include <algorithm>

#include "provider/cpu/axis_split.h"
#include "provider/cpu/families.h"

namespace sardonyx::provider::cpu {
namespace {

/// Whether `candidate` takes the place of `best`, found earlier. The first NaN wins over everything, as in NumPy.
template <bool kMax, bool kLast, typename C>
bool replaces(C candidate, C best) {
  if (best != best) return kLast && candidate != candidate;
  if (candidate != candidate) return true;
  if constexpr (kLast) return kMax ? candidate >= best : candidate <= best;
  return kMax ? candidate > best : candidate < best;
}

/// The index in n contiguous elements.
template <typename T, bool kMax, bool kLast>
std::int64_t arg_of_row(const T* row, std::int64_t n) {
  using C = compute_type<T>;
  C best = static_cast<C>(row[0]);
  std::int64_t index = 0;
  for (std::int64_t i = 1; i < n; ++i) {
    const C value = static_cast<C>(row[i]);
    if (!replaces<kMax, kLast>(value, best)) continue;
    best = value;
    index = i;
  }
  return index;
}

template <typename T, bool kMax, bool kLast>
void arg_reduce_rows(const Parallel& parallel, const T* in, const AxisSplit& split, std::int64_t* out) {
  parallel.parallel_for(static_cast<std::size_t>(split.outer), chunk_of(static_cast<std::size_t>(split.length)),
                        [&](std::size_t begin, std::size_t end) {
                          for (std::size_t row = begin; row < end; ++row)
                            out[row] = arg_of_row<T, kMax, kLast>(in + static_cast<std::int64_t>(row) * split.length,
                                                                  split.length);
                        });
}

template <typename T, bool kMax, bool kLast>
void arg_reduce(const Parallel& parallel, const TensorView& x, const AxisSplit& split, std::int64_t* out) {
  using C = compute_type<T>;
  constexpr std::int64_t kColumns = 64;
  const T* in = x.data<T>();
  if (split.inner == 1) return arg_reduce_rows<T, kMax, kLast>(parallel, in, split, out);
  const std::int64_t blocks = (split.inner + kColumns - 1) / kColumns;
  const auto chunk = static_cast<std::size_t>(
      std::max<std::int64_t>(1, static_cast<std::int64_t>(kElementChunk) /
                                    std::max<std::int64_t>(1, split.length * std::min(split.inner, kColumns))));
  parallel.parallel_for(static_cast<std::size_t>(split.outer * blocks), chunk, [&](std::size_t begin, std::size_t end) {
    C best[kColumns];
    std::int64_t index[kColumns];
    for (auto u = static_cast<std::int64_t>(begin); u < static_cast<std::int64_t>(end); ++u) {
      const std::int64_t outer = u / blocks, first = u % blocks * kColumns,
                         count = std::min(kColumns, split.inner - first);
      const T* base = in + outer * split.length * split.inner + first;
      for (std::int64_t j = 0; j < count; ++j) {
        best[j] = static_cast<C>(base[j]);
        index[j] = 0;
      }
      for (std::int64_t i = 1; i < split.length; ++i) {
        const T* row = base + i * split.inner;
        for (std::int64_t j = 0; j < count; ++j) {
          const C value = static_cast<C>(row[j]);
          if (!replaces<kMax, kLast>(value, best[j])) continue;
          best[j] = value;
          index[j] = i;
        }
      }
      std::copy_n(index, count, out + outer * split.inner + first);
    }
  });
}

template <bool kMax>
class ArgReduceKernel final : public Kernel {
 public:
  explicit ArgReduceKernel(const NodeDesc& node)
      : axis_(node.attributes->get_int("axis", 0)), last_(node.attributes->get_int("select_last_index", 0) != 0) {}
  void run(RunContext& context) const override {
    const TensorView& x = context.input(0);
    const AxisSplit split = split_at_axis(x.shape, axis_);
    if (split.length == 0)
      fail(ErrorCode::kInvalidArgument, "axis {} of {} is empty: no greatest or least element", axis_,
           x.shape.to_string());
    std::int64_t* out = context.output(0).mutable_data<std::int64_t>();
    dispatch(NumberTypes{}, x.type, "this operator", [&]<typename T>() {
      if (last_)
        arg_reduce<T, kMax, true>(context.parallel, x, split, out);
      else
        arg_reduce<T, kMax, false>(context.parallel, x, split, out);
    });
  }

 private:
  std::int64_t axis_;
  bool last_;
};

Support supports_number(const NodeDesc& node) {
  return is_one_of(NumberTypes{}, node.input_type(0)) ? Support::accept() : decline_type(node, 0);
}

}  // namespace

void add_arg_reduce_kernels(KernelTable& table) {
  table.push_back({"", "ArgMax", supports_number, make<ArgReduceKernel<true>>});
  table.push_back({"", "ArgMin", supports_number, make<ArgReduceKernel<false>>});
}

}  // namespace sardonyx::provider::cpu
