#include <cmath>
#include <string>

#include "provider/cpu/broadcast.h"
#include "provider/cpu/convert.h"
#include "provider/cpu/families.h"

namespace sardonyx::provider::cpu {
namespace {

struct EqualOp {
  template <typename C>
  bool operator()(const C& a, const C& b) const {
    return a == b;
  }
};
struct LessOp {
  template <typename C>
  bool operator()(C a, C b) const {
    return a < b;
  }
};
struct LessOrEqualOp {
  template <typename C>
  bool operator()(C a, C b) const {
    return a <= b;
  }
};
struct GreaterOp {
  template <typename C>
  bool operator()(C a, C b) const {
    return a > b;
  }
};
struct GreaterOrEqualOp {
  template <typename C>
  bool operator()(C a, C b) const {
    return a >= b;
  }
};
struct AndOp {
  template <typename C>
  C operator()(C a, C b) const {
    return static_cast<C>(a & b);
  }
};
struct OrOp {
  template <typename C>
  C operator()(C a, C b) const {
    return static_cast<C>(a | b);
  }
};
struct XorOp {
  template <typename C>
  C operator()(C a, C b) const {
    return static_cast<C>(a ^ b);
  }
};
struct NotOp {
  template <typename C>
  C operator()(C a) const {
    if constexpr (std::is_same_v<C, bool>)
      return !a;
    else
      return static_cast<C>(~a);
  }
};

using EqualTypes = Types<float, double, Half, BFloat16, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                         std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, bool, std::string>;
using BoolTypes = Types<bool>;

/// Output elements are bools (comparisons) or have the inputs' type (bitwise).
template <typename Op, typename List, bool kComparison>
class LogicKernel final : public Kernel {
 public:
  explicit LogicKernel(const NodeDesc&) {}
  void run(RunContext& context) const override {
    const TensorView& a = context.input(0);
    dispatch(List{}, a.type, "this operator", [&]<typename T>() {
      using R = std::conditional_t<kComparison, bool, T>;
      broadcast_binary<T, T, R>(context.parallel, a, context.input(1), context.output(0),
                                [](const T& x, const T& y) -> R {
                                  if constexpr (std::is_same_v<compute_type<T>, T>)
                                    return Op{}(x, y);
                                  else
                                    return Op{}(static_cast<compute_type<T>>(x), static_cast<compute_type<T>>(y));
                                });
    });
  }
};

template <typename List>
class NotKernel final : public Kernel {
 public:
  explicit NotKernel(const NodeDesc&) {}
  void run(RunContext& context) const override {
    const TensorView &x = context.input(0), &y = context.output(0);
    dispatch(List{}, x.type, "this operator", [&]<typename T>() {
      const T* in = x.data<T>();
      T* out = y.mutable_data<T>();
      context.parallel.parallel_for(static_cast<std::size_t>(x.num_elements()), kElementChunk,
                                    [&](std::size_t begin, std::size_t end) {
                                      for (std::size_t i = begin; i < end; ++i) out[i] = NotOp{}(in[i]);
                                    });
    });
  }
};

using ClassifiedTypes = Types<float, double, Half, BFloat16, Float8E4M3FN, Float8E4M3FNUZ, Float8E5M2, Float8E5M2FNUZ>;

/// IsNaN and IsInf: a predicate of the value as a double.
template <typename Predicate>
void classify(const RunContext& context, Predicate predicate) {
  const TensorView& x = context.input(0);
  bool* out = context.output(0).mutable_data<bool>();
  dispatch(ClassifiedTypes{}, x.type, "this operator", [&]<typename T>() {
    const T* in = x.data<T>();
    context.parallel.parallel_for(static_cast<std::size_t>(x.num_elements()), kElementChunk,
                                  [&](std::size_t begin, std::size_t end) {
                                    for (std::size_t i = begin; i < end; ++i) {
                                      if constexpr (std::is_same_v<T, double>)
                                        out[i] = predicate(in[i]);
                                      else
                                        out[i] = predicate(static_cast<float>(in[i]));
                                    }
                                  });
  });
}

class IsNaNKernel final : public Kernel {
 public:
  explicit IsNaNKernel(const NodeDesc&) {}
  void run(RunContext& context) const override {
    classify(context, [](auto x) { return x != x; });
  }
};

class IsInfKernel final : public Kernel {
 public:
  explicit IsInfKernel(const NodeDesc& node)
      : negative_(node.attributes->get_int("detect_negative", 1) != 0),
        positive_(node.attributes->get_int("detect_positive", 1) != 0) {}
  void run(RunContext& context) const override {
    const bool negative = negative_, positive = positive_;
    classify(context, [=](auto x) { return std::isinf(x) && (x < 0 ? negative : positive); });
  }

 private:
  bool negative_, positive_;
};

template <typename List>
Support supports_in(const NodeDesc& node) {
  return is_one_of(List{}, node.input_type(0)) ? Support::accept() : decline_type(node, 0);
}

}  // namespace

void add_logic_kernels(KernelTable& table) {
  table.push_back({"", "Equal", supports_in<EqualTypes>, make<LogicKernel<EqualOp, EqualTypes, true>>});
  table.push_back({"", "Less", supports_in<NumberTypes>, make<LogicKernel<LessOp, NumberTypes, true>>});
  table.push_back({"", "LessOrEqual", supports_in<NumberTypes>, make<LogicKernel<LessOrEqualOp, NumberTypes, true>>});
  table.push_back({"", "Greater", supports_in<NumberTypes>, make<LogicKernel<GreaterOp, NumberTypes, true>>});
  table.push_back(
      {"", "GreaterOrEqual", supports_in<NumberTypes>, make<LogicKernel<GreaterOrEqualOp, NumberTypes, true>>});
  table.push_back({"", "And", supports_in<BoolTypes>, make<LogicKernel<AndOp, BoolTypes, false>>});
  table.push_back({"", "Or", supports_in<BoolTypes>, make<LogicKernel<OrOp, BoolTypes, false>>});
  table.push_back({"", "Xor", supports_in<BoolTypes>, make<LogicKernel<XorOp, BoolTypes, false>>});
  table.push_back({"", "Not", supports_in<BoolTypes>, make<NotKernel<BoolTypes>>});
  table.push_back({"", "BitwiseAnd", supports_in<IntegerTypes>, make<LogicKernel<AndOp, IntegerTypes, false>>});
  table.push_back({"", "BitwiseOr", supports_in<IntegerTypes>, make<LogicKernel<OrOp, IntegerTypes, false>>});
  table.push_back({"", "BitwiseXor", supports_in<IntegerTypes>, make<LogicKernel<XorOp, IntegerTypes, false>>});
  table.push_back({"", "BitwiseNot", supports_in<IntegerTypes>, make<NotKernel<IntegerTypes>>});
  table.push_back({"", "IsNaN", supports_in<ClassifiedTypes>, make<IsNaNKernel>});
  table.push_back({"", "IsInf", supports_in<ClassifiedTypes>, make<IsInfKernel>});
}

}  // namespace sardonyx::provider::cpu
