#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sardonyx {

/// ONNX element types, numbered as TensorProto.DataType numbers them.
enum class ElementType : std::uint8_t {
  kUndefined = 0,
  kFloat32 = 1,
  kUInt8 = 2,
  kInt8 = 3,
  kUInt16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kFloat64 = 11,
  kUInt32 = 12,
  kUInt64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBFloat16 = 16,
  kFloat8E4M3FN = 17,
  kFloat8E4M3FNUZ = 18,
  kFloat8E5M2 = 19,
  kFloat8E5M2FNUZ = 20,
  kUInt4 = 21,
  kInt4 = 22,
  kFloat4E2M1 = 23,
  kFloat8E8M0 = 24,
  kUInt2 = 25,
  kInt2 = 26,
};
inline constexpr int kElementTypeCount = 27;

/// ONNX's spelling in lower case: "float", "int64", "bfloat16", "float8e4m3fn", "string". "undefined" when not a type.
std::string_view name(ElementType type);

/// Whether a number is an ElementType other than kUndefined.
bool is_element_type(std::int64_t number);

/// Bits of one element; 0 for kString and kUndefined. Types under 8 bits are packed, low bits first, as in ONNX files.
int bit_width(ElementType type);

/// Bytes that `count` elements take: packed types round up to whole bytes; for kString, count * sizeof(std::string).
/// Throws kResourceExhausted when the product overflows. `count` must not be negative.
std::size_t byte_size(ElementType type, std::int64_t count);

bool is_floating_point(ElementType type);  ///< float64 down to float4, not complex
bool is_integer(ElementType type);         ///< signed and unsigned, not bool
bool is_signed_integer(ElementType type);
bool is_complex(ElementType type);
inline bool is_sub_byte(ElementType type) { return bit_width(type) != 0 && bit_width(type) < 8; }

}  // namespace sardonyx
