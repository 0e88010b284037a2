#include <cmath>
#include <limits>
#include <type_traits>

#include "provider/cpu/dispatch.h"
#include "provider/cpu/families.h"

namespace sardonyx::provider::cpu {
namespace {

// Each maps a value of the compute type. Integers wrap, so that the most negative one stays itself.
struct AbsOp {
  template <typename C>
  C operator()(C x) const {
    if constexpr (std::is_floating_point_v<C>) {
      return std::abs(x);
    } else if constexpr (std::is_unsigned_v<C>) {
      return x;
    } else {
      return x < 0 ? static_cast<C>(0 - static_cast<std::make_unsigned_t<C>>(x)) : x;
    }
  }
};
struct NegOp {
  template <typename C>
  C operator()(C x) const {
    if constexpr (std::is_floating_point_v<C>) {
      return -x;
    } else {
      return static_cast<C>(0 - static_cast<std::make_unsigned_t<C>>(x));
    }
  }
};
struct SignOp {
  template <typename C>
  C operator()(C x) const {
    if constexpr (std::is_floating_point_v<C>) {
      if (x != x) return x;
    }
    if constexpr (std::is_unsigned_v<C>) {
      return x > 0 ? 1 : 0;
    } else {
      return x > 0 ? C(1) : (x < 0 ? C(-1) : C(0));
    }
  }
};
struct ReluOp {
  template <typename C>
  C operator()(C x) const {
    return x < C(0) ? C(0) : x;
  }
};
struct ShrinkOp {
  float bias = 0, lambd = 0.5f;
  template <typename C>
  C operator()(C x) const {
    using Wide = std::conditional_t<std::is_same_v<C, float>, float, double>;
    const auto value = static_cast<Wide>(x);
    if (value < -static_cast<Wide>(lambd)) return cast_back<C>(value + static_cast<Wide>(bias));
    if (value > static_cast<Wide>(lambd)) return cast_back<C>(value - static_cast<Wide>(bias));
    return C(0);
  }

 private:
  template <typename C, typename Wide>
  static C cast_back(Wide value) {
    if constexpr (std::is_floating_point_v<C>) {
      return value;
    } else {
      constexpr auto kLow = static_cast<Wide>(std::numeric_limits<C>::min()),
                     kHigh = static_cast<Wide>(std::numeric_limits<C>::max());
      if (!(value > kLow)) return std::numeric_limits<C>::min();
      return value >= kHigh ? std::numeric_limits<C>::max() : static_cast<C>(value);
    }
  }
};

template <typename Op>
Op make_op(const NodeDesc&) {
  return {};
}
template <>
ShrinkOp make_op<ShrinkOp>(const NodeDesc& node) {
  return {node.attributes->get_float("bias", 0.0f), node.attributes->get_float("lambd", 0.5f)};
}

template <typename Op>
class NumberUnaryKernel final : public Kernel {
 public:
  explicit NumberUnaryKernel(const NodeDesc& node) : op_(make_op<Op>(node)) {}

  void run(RunContext& context) const override {
    const TensorView &x = context.input(0), &y = context.output(0);
    dispatch(NumberTypes{}, x.type, "this operator", [&]<typename T>() {
      const T* in = x.data<T>();
      T* out = y.mutable_data<T>();
      const Op op = op_;
      context.parallel.parallel_for(static_cast<std::size_t>(x.num_elements()), kElementChunk,
                                    [&](std::size_t begin, std::size_t end) {
                                      for (std::size_t i = begin; i < end; ++i)
                                        out[i] = T(op(static_cast<compute_type<T>>(in[i])));
                                    });
    });
  }

 private:
  Op op_;
};

Support supports_number(const NodeDesc& node) {
  return is_one_of(NumberTypes{}, node.input_type(0)) ? Support::accept() : decline_type(node, 0);
}

}  // namespace

void add_number_unary_kernels(KernelTable& table) {
  table.push_back({"", "Abs", supports_number, make<NumberUnaryKernel<AbsOp>>});
  table.push_back({"", "Neg", supports_number, make<NumberUnaryKernel<NegOp>>});
  table.push_back({"", "Sign", supports_number, make<NumberUnaryKernel<SignOp>>});
  table.push_back({"", "Relu", supports_number, make<NumberUnaryKernel<ReluOp>>});
  table.push_back({"", "Shrink", supports_number, make<NumberUnaryKernel<ShrinkOp>>});
}

}  // namespace sardonyx::provider::cpu
