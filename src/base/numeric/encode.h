#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace sardonyx::numeric {

/// What a format's codes above the largest finite value mean.
enum class Specials {
  kIeee,    ///< infinities and NaNs as in IEEE 754
  kNanOnly,  ///< one NaN code (all ones), no infinities
  kUnsignedZero,  ///< one NaN code (sign bit only), no infinities, no negative zero
  kNone,    ///< neither
};

/// A binary floating-point format of at most 16 bits: sign, exponent, mantissa from the top.
struct Format {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  std::uint32_t max_code;  ///< largest finite value, without sign
  Specials specials;

  constexpr int min_exponent() const { return 1 - bias; }
  constexpr std::uint32_t sign_bit() const { return 1u << (exponent_bits + mantissa_bits); }
  constexpr std::uint32_t infinity_code() const { return ((1u << exponent_bits) - 1) << mantissa_bits; }
  constexpr std::uint32_t nan_code() const {
    switch (specials) {
      case Specials::kIeee: return infinity_code() | (1u << (mantissa_bits - 1));
      case Specials::kNanOnly: return sign_bit() - 1;
      case Specials::kUnsignedZero: return sign_bit();
      case Specials::kNone: return 0;
    }
    return 0;
  }
};

inline constexpr Format kHalfFormat{5, 10, 15, 0x7bff, Specials::kIeee};
inline constexpr Format kBFloat16Format{8, 7, 127, 0x7f7f, Specials::kIeee};
inline constexpr Format kFloat8E4M3FNFormat{4, 3, 7, 0x7e, Specials::kNanOnly};
inline constexpr Format kFloat8E4M3FNUZFormat{4, 3, 8, 0x7f, Specials::kUnsignedZero};
inline constexpr Format kFloat8E5M2Format{5, 2, 15, 0x7b, Specials::kIeee};
inline constexpr Format kFloat8E5M2FNUZFormat{5, 2, 16, 0x7f, Specials::kUnsignedZero};
inline constexpr Format kFloat4E2M1Format{2, 1, 1, 0x7, Specials::kNone};

/// The code for "too large": the largest finite value where `saturate` or the format has nothing else, otherwise infinity
/// or, failing that, NaN.
constexpr std::uint32_t overflow_code(const Format& f, std::uint32_t sign, bool saturate) {
  if (saturate || f.specials == Specials::kNone) return sign | f.max_code;
  if (f.specials == Specials::kIeee) return sign | f.infinity_code();
  return f.specials == Specials::kNanOnly ? (sign | f.nan_code()) : f.nan_code();
}

/// `value` rounded to the nearest code, ties to even, in one rounding. Exact for every double, so float, half and integers
/// below 2^53 may be widened first. NaN keeps its sign where the format has signed NaNs; where it has none at all
/// (Float4E2M1) NaN becomes the largest value.
constexpr std::uint32_t encode(const Format& f, double value, bool saturate) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint32_t sign = (bits >> 63) != 0 ? f.sign_bit() : 0;
  const int biased = static_cast<int>(bits >> 52 & 0x7ff);
  std::uint64_t mantissa = bits & ((std::uint64_t{1} << 52) - 1);
  if (biased == 0x7ff) {
    if (mantissa == 0) return overflow_code(f, sign, saturate);
    if (f.specials == Specials::kNone) return f.max_code;
    return f.specials == Specials::kUnsignedZero ? f.nan_code() : (sign | f.nan_code());
  }
  const std::uint32_t zero = f.specials == Specials::kUnsignedZero ? 0 : sign;
  if (biased == 0) return zero;  // a double's subnormals lie far below half of any smallest value here
  mantissa |= std::uint64_t{1} << 52;
  const int exponent = biased - 1023;
  const int base = exponent > f.min_exponent() ? exponent : f.min_exponent();
  if (base > f.min_exponent() + (1 << f.exponent_bits)) return overflow_code(f, sign, saturate);
  const int shift = 52 - f.mantissa_bits + (base - exponent);
  if (shift > 53) return zero;  // below half of the smallest value
  const std::uint64_t floor = mantissa >> shift;
  const std::uint64_t rest = mantissa & ((std::uint64_t{1} << shift) - 1);
  const std::uint64_t half = std::uint64_t{1} << (shift - 1);
  const std::uint64_t rounded = floor + (rest > half || (rest == half && (floor & 1) != 0) ? 1 : 0);
  const std::uint64_t code = (static_cast<std::uint64_t>(base - f.min_exponent()) << f.mantissa_bits) + rounded;
  if (code > f.max_code) return overflow_code(f, sign, saturate);
  return code == 0 ? zero : (sign | static_cast<std::uint32_t>(code));
}

/// The value of `code`, exact in float for every format above.
constexpr float decode(const Format& f, std::uint32_t code) {
  const bool negative = (code & f.sign_bit()) != 0;
  const std::uint32_t magnitude = code & (f.sign_bit() - 1);
  const std::uint32_t sign = negative ? 0x80000000u : 0u;
  if (f.specials == Specials::kUnsignedZero && code == f.nan_code()) return std::bit_cast<float>(0x7fc00000u);
  if (magnitude > f.max_code) {
    const bool infinite = f.specials == Specials::kIeee && magnitude == f.infinity_code();
    return std::bit_cast<float>(sign | (infinite ? 0x7f800000u : 0x7fc00000u));
  }
  const int field = static_cast<int>(magnitude >> f.mantissa_bits);
  std::uint64_t mantissa = magnitude & ((1u << f.mantissa_bits) - 1);
  if (field != 0) mantissa |= 1u << f.mantissa_bits;
  const int exponent = (field == 0 ? 1 : field) - f.bias - f.mantissa_bits;
  const double scale = std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
  const double value = static_cast<double>(mantissa) * scale;
  return static_cast<float>(negative ? -value : value);
}

/// An integer as a double that rounds onward like the integer itself: exact up to 2^53, above rounded to odd.
template <typename T>
constexpr double widen(T value) {
  bool negative = false;
  if constexpr (std::is_signed_v<T>) negative = value < 0;
  std::uint64_t magnitude = negative ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  int shift = 0;
  while (magnitude >> 53 != 0) {
    magnitude = (magnitude >> 1) | (magnitude & 1);
    ++shift;
  }
  const double result = static_cast<double>(magnitude) * static_cast<double>(std::uint64_t{1} << shift);
  return negative ? -result : result;
}

}  // namespace sardonyx::numeric
