#include <cstring>

#include "provider/cpu/broadcast.h"
#include "provider/cpu/families.h"

namespace sardonyx::provider::cpu {
namespace {

// NaN in either operand gives NaN, as NumPy's minimum and maximum have it.
struct MinOp {
  template <typename C>
  C operator()(C a, C b) const {
    return a < b || a != a ? a : b;
  }
};
struct MaxOp {
  template <typename C>
  C operator()(C a, C b) const {
    return a > b || a != a ? a : b;
  }
};
struct SumOp {
  template <typename C>
  C operator()(C a, C b) const {
    return a + b;
  }
};

template <typename T>
void divide(const Parallel& parallel, const TensorView& y, std::size_t by) {
  using C = compute_type<T>;
  T* out = y.mutable_data<T>();
  const C divisor = static_cast<C>(by);
  parallel.parallel_for(static_cast<std::size_t>(y.num_elements()), kElementChunk,
                        [&](std::size_t begin, std::size_t end) {
                          for (std::size_t i = begin; i < end; ++i) out[i] = T(static_cast<C>(out[i]) / divisor);
                        });
}

/// Folds the inputs from left to right into the output.
template <typename Op, typename List, kernels::Binary kFloat, bool kMean = false>
class VariadicKernel final : public Kernel {
 public:
  explicit VariadicKernel(const NodeDesc&) {}
  void run(RunContext& context) const override {
    const TensorView& y = context.output(0);
    dispatch(List{}, y.type, "this operator", [&]<typename T>() {
      using C = compute_type<T>;
      const auto fold = [&](const TensorView& a, const TensorView& b) {
        if constexpr (std::is_same_v<T, float>)
          return broadcast_float(context.parallel, kFloat, a, b, y);
        else
          broadcast_binary<T, T, T>(context.parallel, a, b, y, [](const T& p, const T& q) {
            return T(Op{}(static_cast<C>(p), static_cast<C>(q)));
          });
      };
      if (context.num_inputs() == 1) {
        if (y.num_elements() > 0) std::memcpy(y.data_ptr, context.input(0).data_ptr, y.num_bytes());
        return;
      }
      fold(context.input(0), context.input(1));
      for (std::size_t i = 2; i < context.num_inputs(); ++i) fold(y, context.input(i));
      if constexpr (kMean) divide<T>(context.parallel, y, context.num_inputs());
    });
  }
};

template <typename List>
Support supports_in(const NodeDesc& node) {
  return is_one_of(List{}, node.input_type(0)) ? Support::accept() : decline_type(node, 0);
}

}  // namespace

void add_variadic_kernels(KernelTable& table) {
  table.push_back(
      {"", "Min", supports_in<NumberTypes>, make<VariadicKernel<MinOp, NumberTypes, kernels::Binary::kMin>>});
  table.push_back(
      {"", "Max", supports_in<NumberTypes>, make<VariadicKernel<MaxOp, NumberTypes, kernels::Binary::kMax>>});
  table.push_back({"", "Sum", supports_in<FloatTypes>, make<VariadicKernel<SumOp, FloatTypes, kernels::Binary::kAdd>>});
  table.push_back(
      {"", "Mean", supports_in<FloatTypes>, make<VariadicKernel<SumOp, FloatTypes, kernels::Binary::kAdd, true>>});
}

}  // namespace sardonyx::provider::cpu
