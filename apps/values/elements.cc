#include "apps/values/elements.h"

#include <cmath>

#include "base/fail.h"
#include "base/numeric/numeric.h"

namespace sardonyx::values {
namespace {

/// Calls visit(tag) with a null pointer of the type that holds elements of `type`.
template <typename Visit>
auto visit_type(ElementType type, Visit&& visit) {
  switch (type) {
    case ElementType::kFloat32: return visit(static_cast<float*>(nullptr));
    case ElementType::kFloat64: return visit(static_cast<double*>(nullptr));
    case ElementType::kFloat16: return visit(static_cast<Half*>(nullptr));
    case ElementType::kBFloat16: return visit(static_cast<BFloat16*>(nullptr));
    case ElementType::kFloat8E4M3FN: return visit(static_cast<Float8E4M3FN*>(nullptr));
    case ElementType::kFloat8E4M3FNUZ: return visit(static_cast<Float8E4M3FNUZ*>(nullptr));
    case ElementType::kFloat8E5M2: return visit(static_cast<Float8E5M2*>(nullptr));
    case ElementType::kFloat8E5M2FNUZ: return visit(static_cast<Float8E5M2FNUZ*>(nullptr));
    case ElementType::kFloat8E8M0: return visit(static_cast<Float8E8M0*>(nullptr));
    case ElementType::kFloat4E2M1: return visit(static_cast<PackedFloat4E2M1*>(nullptr));
    case ElementType::kBool: return visit(static_cast<bool*>(nullptr));
    case ElementType::kInt8: return visit(static_cast<std::int8_t*>(nullptr));
    case ElementType::kInt16: return visit(static_cast<std::int16_t*>(nullptr));
    case ElementType::kInt32: return visit(static_cast<std::int32_t*>(nullptr));
    case ElementType::kInt64: return visit(static_cast<std::int64_t*>(nullptr));
    case ElementType::kUInt8: return visit(static_cast<std::uint8_t*>(nullptr));
    case ElementType::kUInt16: return visit(static_cast<std::uint16_t*>(nullptr));
    case ElementType::kUInt32: return visit(static_cast<std::uint32_t*>(nullptr));
    case ElementType::kUInt64: return visit(static_cast<std::uint64_t*>(nullptr));
    case ElementType::kInt4: return visit(static_cast<Int4*>(nullptr));
    case ElementType::kUInt4: return visit(static_cast<UInt4*>(nullptr));
    case ElementType::kInt2: return visit(static_cast<Int2*>(nullptr));
    case ElementType::kUInt2: return visit(static_cast<UInt2*>(nullptr));
    default: fail(ErrorCode::kInvalidArgument, "expected numbers or booleans, found {}", name(type));
  }
}

template <typename T>
concept Packed = requires { T::kBits; };

}  // namespace

bool is_real(ElementType type) {
  return type != ElementType::kUndefined && type != ElementType::kString && !is_complex(type);
}

double get_element(const TensorView& tensor, std::int64_t i) {
  return visit_type(tensor.type, [&]<typename T>(T*) -> double {
    if constexpr (Packed<T>)
      return static_cast<double>(get_packed<T>(tensor.data_ptr, static_cast<std::size_t>(i)));
    else
      return static_cast<double>(tensor.data<T>()[i]);
  });
}

void set_element(const TensorView& tensor, std::int64_t i, double value) {
  visit_type(tensor.type, [&]<typename T>(T*) {
    if constexpr (Packed<T>)
      set_packed<T>(tensor.data_ptr, static_cast<std::size_t>(i), static_cast<typename T::Value>(value));
    else if constexpr (std::is_same_v<T, bool>)
      tensor.mutable_data<T>()[i] = value != 0;
    else
      tensor.mutable_data<T>()[i] = static_cast<T>(value);
  });
}

double lowest_integer(ElementType type) {
  return is_signed_integer(type) ? -std::ldexp(1.0, bit_width(type) - 1) : 0.0;
}

double highest_integer(ElementType type) {
  if (type == ElementType::kBool) return 1;
  // One double below 2^63 or 2^64, where the exact limit is no double.
  const int bits = bit_width(type) - (is_signed_integer(type) ? 1 : 0);
  return bits > 53 ? std::nextafter(std::ldexp(1.0, bits), 0.0) : std::ldexp(1.0, bits) - 1;
}

}  // namespace sardonyx::values
