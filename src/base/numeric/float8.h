#pragma once

#include <concepts>

#include "base/numeric/encode.h"

namespace sardonyx {

/// An ONNX float of 8 or 4 bits, one per byte. Storage only. Conversions round to nearest, ties to even, once.
template <const numeric::Format& kFormat>
struct SmallFloat {
  std::uint8_t bits = 0;

  constexpr SmallFloat() = default;
  /// Saturating, which is ONNX's default for Cast and QuantizeLinear.
  explicit constexpr SmallFloat(float value) : SmallFloat(from_double(value, true)) {}
  explicit constexpr SmallFloat(double value) : SmallFloat(from_double(value, true)) {}
  template <std::integral T>
  explicit constexpr SmallFloat(T value) : SmallFloat(from_double(numeric::widen(value), true)) {}

  static constexpr SmallFloat from_bits(std::uint8_t bits) {
    SmallFloat result;
    result.bits = bits;
    return result;
  }
  /// With `saturate`, overflow and infinities give the largest finite value; without, infinity where the type has one and
  /// NaN otherwise (Float4E2M1 always saturates).
  static constexpr SmallFloat from_float(float value, bool saturate) { return from_double(value, saturate); }
  static constexpr SmallFloat from_double(double value, bool saturate) {
    return from_bits(static_cast<std::uint8_t>(numeric::encode(kFormat, value, saturate)));
  }

  explicit constexpr operator float() const { return numeric::decode(kFormat, bits); }
  explicit constexpr operator double() const { return numeric::decode(kFormat, bits); }
};

using Float8E4M3FN = SmallFloat<numeric::kFloat8E4M3FNFormat>;
using Float8E4M3FNUZ = SmallFloat<numeric::kFloat8E4M3FNUZFormat>;
using Float8E5M2 = SmallFloat<numeric::kFloat8E5M2Format>;
using Float8E5M2FNUZ = SmallFloat<numeric::kFloat8E5M2FNUZFormat>;
/// One value in the low four bits. In tensors two values share a byte: see packed.h.
using Float4E2M1 = SmallFloat<numeric::kFloat4E2M1Format>;

/// How Float8E8M0 rounds between two powers of two; names as in ONNX's Cast.
enum class E8M0Rounding {
  kUp,       ///< to the larger
  kDown,     ///< to the smaller
  kNearest,  ///< to the nearer, ties to the larger
};

/// A power of two from 2^-127 (0x00) to 2^127 (0xfe); 0xff is NaN. It has no sign and no zero: the sign of a source value
/// is dropped.
struct Float8E8M0 {
  std::uint8_t bits = 0;

  constexpr Float8E8M0() = default;
  explicit constexpr Float8E8M0(float value) : Float8E8M0(from_double(value, true)) {}
  explicit constexpr Float8E8M0(double value) : Float8E8M0(from_double(value, true)) {}
  template <std::integral T>
  explicit constexpr Float8E8M0(T value) : Float8E8M0(from_double(numeric::widen(value), true)) {}

  static constexpr Float8E8M0 from_bits(std::uint8_t bits) {
    Float8E8M0 result;
    result.bits = bits;
    return result;
  }
  static constexpr Float8E8M0 from_float(float value, bool saturate, E8M0Rounding rounding = E8M0Rounding::kUp) {
    return from_double(value, saturate, rounding);
  }
  /// With `saturate`, zero and values below 2^-127 give 2^-127, infinities and values above 2^127 give 2^127; without, NaN.
  static constexpr Float8E8M0 from_double(double value, bool saturate, E8M0Rounding rounding = E8M0Rounding::kUp) {
    const std::uint64_t word = std::bit_cast<std::uint64_t>(value) & 0x7fffffffffffffffu;
    if (word > 0x7ff0000000000000u) return from_bits(0xff);
    const std::uint64_t fraction = word & 0xfffffffffffffu;
    int exponent = static_cast<int>(word >> 52) - 1023;
    if (rounding == E8M0Rounding::kUp) exponent += fraction != 0 ? 1 : 0;
    if (rounding == E8M0Rounding::kNearest) exponent += fraction >= 0x8000000000000u ? 1 : 0;
    const bool positive_below = word != 0 && exponent < -127 && rounding == E8M0Rounding::kUp;
    if (positive_below) exponent = -127;
    if (exponent < -127) return from_bits(saturate ? 0x00 : 0xff);
    if (exponent > 127) return from_bits(saturate ? 0xfe : 0xff);
    return from_bits(static_cast<std::uint8_t>(exponent + 127));
  }

  explicit constexpr operator float() const {
    if (bits == 0xff) return std::bit_cast<float>(0x7fc00000u);
    if (bits == 0) return 0x1p-127f;
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 23);
  }
  explicit constexpr operator double() const { return static_cast<float>(*this); }
};

}  // namespace sardonyx
