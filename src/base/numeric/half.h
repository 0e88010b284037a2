#pragma once

#include <concepts>

#include "base/numeric/encode.h"

namespace sardonyx {

/// IEEE 754 binary16 as ONNX stores it (float16). Storage only: convert to float, compute, convert back.
/// Conversions round to nearest, ties to even, once, whatever the source type; overflow gives infinity.
struct Half {
  std::uint16_t bits = 0;

  constexpr Half() = default;
  explicit constexpr Half(float value) : bits(encode_float(value)) {}
  explicit constexpr Half(double value)
      : bits(static_cast<std::uint16_t>(numeric::encode(numeric::kHalfFormat, value, false))) {}
  template <std::integral T>
  explicit constexpr Half(T value) : Half(numeric::widen(value)) {}

  static constexpr Half from_bits(std::uint16_t bits) {
    Half half;
    half.bits = bits;
    return half;
  }
  /// With `saturate`, overflow and infinities give the largest finite value.
  static constexpr Half from_float(float value, bool saturate = false) {
    return from_bits(static_cast<std::uint16_t>(numeric::encode(numeric::kHalfFormat, value, saturate)));
  }

  explicit constexpr operator float() const {
    const std::uint32_t sign = (bits & 0x8000u) << 16;
    const std::uint32_t magnitude = bits & 0x7fffu;
    if (magnitude >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
    if (magnitude >= 0x400u) return std::bit_cast<float>(sign | ((magnitude << 13) + (112u << 23)));
    const float value = static_cast<float>(magnitude) * 0x1p-24f;
    return sign != 0 ? -value : value;
  }
  explicit constexpr operator double() const { return static_cast<float>(*this); }

 private:
  /// As the F16C instruction does: a NaN keeps the top of its payload and becomes quiet.
  static constexpr std::uint16_t encode_float(float value) {
    const auto word = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = word >> 16 & 0x8000u;
    const std::uint32_t magnitude = word & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u | (magnitude >> 13 & 0x3ffu));
    if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);  // from 65520 on
    if (magnitude < 0x38800000u) {  // below 2^-14: adding 0.5 rounds at 2^-24, the spacing of subnormals
      const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
      return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u));
    }
    const std::uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u);
    return static_cast<std::uint16_t>(sign | ((rounded - (112u << 23)) >> 13));
  }
};

/// The upper half of a float as ONNX stores it (bfloat16). Storage only; conversions as for Half.
struct BFloat16 {
  std::uint16_t bits = 0;

  constexpr BFloat16() = default;
  explicit constexpr BFloat16(float value) : bits(encode_float(value)) {}
  explicit constexpr BFloat16(double value)
      : bits(static_cast<std::uint16_t>(numeric::encode(numeric::kBFloat16Format, value, false))) {}
  template <std::integral T>
  explicit constexpr BFloat16(T value) : BFloat16(numeric::widen(value)) {}

  static constexpr BFloat16 from_bits(std::uint16_t bits) {
    BFloat16 result;
    result.bits = bits;
    return result;
  }
  static constexpr BFloat16 from_float(float value, bool saturate = false) {
    return from_bits(static_cast<std::uint16_t>(numeric::encode(numeric::kBFloat16Format, value, saturate)));
  }

  explicit constexpr operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
  explicit constexpr operator double() const { return static_cast<float>(*this); }

 private:
  static constexpr std::uint16_t encode_float(float value) {
    const auto word = std::bit_cast<std::uint32_t>(value);
    if ((word & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>(word >> 16 | 0x40u);
    return static_cast<std::uint16_t>((word + 0x7fffu + (word >> 16 & 1u)) >> 16);
  }
};

}  // namespace sardonyx
