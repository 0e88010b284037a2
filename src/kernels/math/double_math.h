#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

// Elementary functions in double for float arguments: relative errors below 1e-12, so that the one rounding to float decides.
// Only + - * / and sqrt of IEEE doubles, compiled once for the baseline, so the same on every machine.
namespace sardonyx::kernels::double_math {

inline double power_of_two(int n) { return std::bit_cast<double>(static_cast<std::uint64_t>(n + 1023) << 52); }

/// Nearest integer, halves to even, for |x| < 2^51.
inline double round(double x) { return (x + 0x1.8p52) - 0x1.8p52; }

/// e^x; below -700 at most 1e-304, above 700 at least 1e304.
inline double exp(double x) {
  if (!(x > -700.0)) return std::isnan(x) ? x : 0.0;
  if (x > 700.0) return std::numeric_limits<double>::infinity();
  const double n = round(x * 0x1.71547652b82fep+0);
  const double r = (x - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33;
  double sum = 1.0;
  for (int k = 13; k > 0; --k) sum = 1.0 + sum * r / k;
  return sum * power_of_two(static_cast<int>(n));
}

/// ln x for finite x > 0.
inline double log(double x) {
  int exponent = 0;
  if (x < 0x1p-1000) {
    x *= 0x1p60;
    exponent = -60;
  }
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(x) - 0x3fe6a09e667f3bcdu;  // sqrt(1/2)
  exponent += static_cast<int>(static_cast<std::int64_t>(bits) >> 52);
  const double m = std::bit_cast<double>((bits & 0xfffffffffffffu) + 0x3fe6a09e667f3bcdu);
  const double s = (m - 1.0) / (m + 1.0);
  const double s2 = s * s;
  double sum = 0.0;
  for (int k = 21; k > 0; k -= 2) sum = sum * s2 + 1.0 / k;
  return exponent * 0x1.62e42fefa39efp-1 + 2.0 * s * sum;
}

/// x modulo pi / 2: the remainder in [-pi/4, pi/4] and the number of quarter turns modulo 4.
struct QuarterTurns {
  double remainder;
  unsigned quadrant;
};
QuarterTurns reduce_large(float x);  // Payne and Hanek: exact for any float of at least 2^10
inline QuarterTurns reduce(float x) {
  if (std::fabs(x) >= 0x1p20f) return reduce_large(x);
  const double n = round(x * 0x1.45f306dc9c883p-1);
  const double r = (x - n * 0x1.921fb544p+0) - n * 0x1.0b4611a626331p-34;
  return {r, static_cast<unsigned>(static_cast<std::int64_t>(n)) & 3u};
}

inline double sin_small(double r) {
  const double r2 = r * r;
  double sum = 1.0;
  for (int k = 15; k > 1; k -= 2) sum = 1.0 - sum * r2 / (k * (k - 1));
  return r * sum;
}
inline double cos_small(double r) {
  const double r2 = r * r;
  double sum = 1.0;
  for (int k = 16; k > 0; k -= 2) sum = 1.0 - sum * r2 / (k * (k - 1));
  return sum;
}

/// Arc tangent for any x.
inline double atan(double x) {
  const double magnitude = std::fabs(x);
  double t = magnitude > 1.0 ? 1.0 / magnitude : magnitude;
  const bool steep = t > 0.4142135623730950;  // tan(pi / 8)
  if (steep) t = (t - 1.0) / (t + 1.0);
  const double t2 = t * t;
  double sum = 0.0;
  for (int k = 37; k > 0; k -= 2) sum = 1.0 / k - t2 * sum;
  double y = t * sum + (steep ? 0x1.921fb54442d18p-1 : 0.0);
  if (magnitude > 1.0) y = 0x1.921fb54442d18p+0 - y;
  return std::copysign(y, x);
}

}  // namespace sardonyx::kernels::double_math
