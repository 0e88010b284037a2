#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

#include "provider/cpu/broadcast.h"
#include "provider/cpu/families.h"

namespace sardonyx::provider::cpu {
namespace {

using kernels::Binary;

/// The unsigned type integer arithmetic wraps in; at least 32 bits, so that no operand is promoted to signed int.
template <typename T>
using wrap_type = std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;

// Operations on values of the compute type. Integers wrap around; dividing an integer by zero is an Error.
struct AddOp {
  template <typename C>
  C operator()(C a, C b) const {
    if constexpr (std::is_floating_point_v<C>)
      return a + b;
    else
      return static_cast<C>(static_cast<wrap_type<C>>(a) + static_cast<wrap_type<C>>(b));
  }
};
struct SubOp {
  template <typename C>
  C operator()(C a, C b) const {
    if constexpr (std::is_floating_point_v<C>)
      return a - b;
    else
      return static_cast<C>(static_cast<wrap_type<C>>(a) - static_cast<wrap_type<C>>(b));
  }
};
struct MulOp {
  template <typename C>
  C operator()(C a, C b) const {
    if constexpr (std::is_floating_point_v<C>)
      return a * b;
    else
      return static_cast<C>(static_cast<wrap_type<C>>(a) * static_cast<wrap_type<C>>(b));
  }
};

template <typename C>
void check_divisor(C b, const char* op) {
  if (b == 0) [[unlikely]]
    fail(ErrorCode::kInvalidArgument, "{}: an integer is divided by zero", op);
}

struct DivOp {
  template <typename C>
  C operator()(C a, C b) const {
    if constexpr (std::is_floating_point_v<C>) {
      return a / b;
    } else {
      check_divisor(b, "Div");
      if constexpr (std::is_signed_v<C>) {
        if (b == C(-1)) return static_cast<C>(wrap_type<C>(0) - static_cast<wrap_type<C>>(a));
      }
      return static_cast<C>(a / b);
    }
  }
};
/// The remainder with the divisor's sign.
struct ModOp {
  template <typename C>
  C operator()(C a, C b) const {
    if constexpr (std::is_floating_point_v<C>) {
      return std::fmod(a, b);
    } else {
      check_divisor(b, "Mod");
      if constexpr (std::is_signed_v<C>) {
        if (b == C(-1)) return 0;
        const C rest = static_cast<C>(a % b);
        return rest != 0 && (rest < 0) != (b < 0) ? static_cast<C>(rest + b) : rest;
      } else {
        return static_cast<C>(a % b);
      }
    }
  }
};
/// The remainder with the dividend's sign.
struct FmodOp {
  template <typename C>
  C operator()(C a, C b) const {
    if constexpr (std::is_floating_point_v<C>) {
      return std::fmod(a, b);
    } else {
      check_divisor(b, "Mod");
      if constexpr (std::is_signed_v<C>) {
        if (b == C(-1)) return 0;
      }
      return static_cast<C>(a % b);
    }
  }
};
struct PReluOp {
  template <typename C>
  C operator()(C x, C slope) const {
    if constexpr (std::is_unsigned_v<C>)
      return x;
    else
      return x < 0 ? MulOp{}(slope, x) : x;
  }
};
struct ShiftLeftOp {
  template <typename C>
  C operator()(C x, C by) const {
    return by >= static_cast<C>(8 * sizeof(C)) ? C(0) : static_cast<C>(static_cast<wrap_type<C>>(x) << by);
  }
};
struct ShiftRightOp {
  template <typename C>
  C operator()(C x, C by) const {
    return by >= static_cast<C>(8 * sizeof(C)) ? C(0) : static_cast<C>(x >> by);
  }
};

using UnsignedTypes = Types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;

/// `kFloat`: the operation in the kernels layer for float tensors; kCount: none.
template <typename Op, typename List = NumberTypes, Binary kFloat = Binary::kCount>
class ArithmeticKernel final : public Kernel {
 public:
  explicit ArithmeticKernel(const NodeDesc&) {}
  void run(RunContext& context) const override {
    const TensorView& a = context.input(0);
    if (kFloat != Binary::kCount && a.type == ElementType::kFloat32) {
      return broadcast_float(context.parallel, kFloat, a, context.input(1), context.output(0));
    }
    dispatch(List{}, a.type, "this operator", [&]<typename T>() {
      using C = compute_type<T>;
      broadcast_binary<T, T, T>(context.parallel, a, context.input(1), context.output(0),
                                [](const T& x, const T& y) { return T(Op{}(static_cast<C>(x), static_cast<C>(y))); });
    });
  }
};

template <typename List>
Support supports_in(const NodeDesc& node) {
  return is_one_of(List{}, node.input_type(0)) ? Support::accept() : decline_type(node, 0);
}

std::unique_ptr<Kernel> create_mod(const NodeDesc& node) {
  if (node.attributes->get_int("fmod", 0) != 0) return std::make_unique<ArithmeticKernel<FmodOp>>(node);
  return std::make_unique<ArithmeticKernel<ModOp, IntegerTypes>>(node);
}

std::unique_ptr<Kernel> create_shift(const NodeDesc& node) {
  if (node.attributes->get_string("direction") == "LEFT")
    return std::make_unique<ArithmeticKernel<ShiftLeftOp, UnsignedTypes>>(node);
  return std::make_unique<ArithmeticKernel<ShiftRightOp, UnsignedTypes>>(node);
}

}  // namespace

void add_arithmetic_kernels(KernelTable& table) {
  table.push_back({"", "Add", supports_in<NumberTypes>, make<ArithmeticKernel<AddOp, NumberTypes, Binary::kAdd>>});
  table.push_back({"", "Sub", supports_in<NumberTypes>, make<ArithmeticKernel<SubOp, NumberTypes, Binary::kSub>>});
  table.push_back({"", "Mul", supports_in<NumberTypes>, make<ArithmeticKernel<MulOp, NumberTypes, Binary::kMul>>});
  table.push_back({"", "Div", supports_in<NumberTypes>, make<ArithmeticKernel<DivOp, NumberTypes, Binary::kDiv>>});
  table.push_back({"", "Mod", supports_in<NumberTypes>, create_mod});
  table.push_back(
      {"", "PRelu", supports_in<NumberTypes>, make<ArithmeticKernel<PReluOp, NumberTypes, Binary::kPrelu>>});
  table.push_back({"", "BitShift", supports_in<UnsignedTypes>, create_shift});
}

}  // namespace sardonyx::provider::cpu
