#include <cmath>
#include <limits>

#include "kernels/math/double_math.h"
#include "kernels/math/elementwise.h"

namespace sardonyx::kernels {
namespace double_math {

QuarterTurns reduce_large(float x) {
  // 2/pi in words of 32 bits after the binary point, with a zero word before it.
  constexpr std::uint32_t kTwoOverPi[] = {0,           0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u,
                                          0xdb629599u, 0x3c439041u, 0xfe5163abu, 0xdebbc561u};
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const int exponent = static_cast<int>(bits >> 23 & 0xff) - 150;  // |x| = mantissa 2^exponent
  const std::uint64_t mantissa = (bits & 0x7fffff) | 0x800000;
  // Bits of 2/pi above weight 2^(1 - exponent) give whole turns. Take the 128 below.
  const int first = exponent - 2 + 32;
  const int word = first / 32;
  const int shift = first % 32;
  unsigned __int128 window = 0;
  for (int i = 0; i < 4; ++i) window = window << 32 | kTwoOverPi[word + i];
  if (shift != 0) window = window << shift | kTwoOverPi[word + 4] >> (32 - shift);
  const unsigned __int128 turns = window * mantissa;  // in units of 2^-126 quarter turns, modulo 4
  const auto quadrant = static_cast<unsigned>((turns + (static_cast<unsigned __int128>(1) << 125)) >> 126);
  const auto rest = static_cast<__int128>(turns - (static_cast<unsigned __int128>(quadrant) << 126));
  const double remainder = static_cast<double>(rest) * 0x1p-126 * 0x1.921fb54442d18p+0;
  if (bits >> 31 != 0) return {-remainder, (4 - quadrant) & 3};
  return {remainder, quadrant};
}

}  // namespace double_math

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kChunk = 1024;  // elements per task

double sine(float x, unsigned quarter_turns_ahead) {
  if (!std::isfinite(x)) return kNan;
  const double_math::QuarterTurns turns = double_math::reduce(x);
  const unsigned quadrant = (turns.quadrant + quarter_turns_ahead) & 3u;
  const double y =
      quadrant % 2 == 0 ? double_math::sin_small(turns.remainder) : double_math::cos_small(turns.remainder);
  return quadrant >= 2 ? -y : y;
}

double evaluate_sin(float x) { return x == 0.0f ? x : sine(x, 0); }
double evaluate_cos(float x) { return sine(x, 1); }
double evaluate_tan(float x) { return x == 0.0f ? x : sine(x, 0) / sine(x, 1); }

double evaluate_atan(float x) { return double_math::atan(x); }
double evaluate_asin(float x) {
  const double d = x;
  if (!(std::fabs(d) < 1.0)) return std::fabs(d) == 1.0 ? std::copysign(0x1.921fb54442d18p+0, d) : kNan;
  return double_math::atan(d / std::sqrt((1.0 - d) * (1.0 + d)));
}
double evaluate_acos(float x) {
  const double d = x;
  if (!(std::fabs(d) <= 1.0)) return kNan;
  if (d == -1.0) return 0x1.921fb54442d18p+1;
  return 2.0 * double_math::atan(std::sqrt((1.0 - d) / (1.0 + d)));
}

double evaluate_sinh(float x) {
  const double d = x;
  if (std::fabs(d) < 0.3) {
    const double d2 = d * d;
    return d * (1.0 + d2 / 6.0 * (1.0 + d2 / 20.0 * (1.0 + d2 / 42.0 * (1.0 + d2 / 72.0))));
  }
  return (double_math::exp(d) - double_math::exp(-d)) * 0.5;
}
double evaluate_cosh(float x) { return (double_math::exp(x) + double_math::exp(-static_cast<double>(x))) * 0.5; }

double evaluate_asinh(float x) {
  const double d = std::fabs(static_cast<double>(x));
  double y = d;
  if (d < 1e-3) {
    const double d2 = d * d;
    y = d * (1.0 - d2 / 6.0 + 3.0 / 40.0 * d2 * d2);
  } else if (std::isfinite(d)) {
    y = double_math::log(d + std::sqrt(d * d + 1.0));
  }
  return std::copysign(y, x);
}
double evaluate_acosh(float x) {
  const double d = x;
  if (!(d >= 1.0)) return kNan;
  return std::isinf(d) ? d : double_math::log(d + std::sqrt((d - 1.0) * (d + 1.0)));
}
double evaluate_atanh(float x) {
  const double d = x;
  if (!(std::fabs(d) < 1.0))
    return std::fabs(d) == 1.0 ? std::copysign(std::numeric_limits<double>::infinity(), d) : kNan;
  if (std::fabs(d) < 1e-3) {
    const double d2 = d * d;
    return d * (1.0 + d2 / 3.0 + d2 * d2 / 5.0);
  }
  return 0.5 * double_math::log((1.0 + d) / (1.0 - d));
}

template <double (*kFunction)(float)>
void run(const float* x, float* y, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) y[i] = std::isnan(x[i]) ? x[i] : static_cast<float>(kFunction(x[i]));
}

using Function = void (*)(const float*, float*, std::size_t);

// Indexed by Rare.
constexpr Function kFunctions[] = {run<evaluate_sin>,   run<evaluate_cos>,   run<evaluate_tan>,  run<evaluate_asin>,
                                   run<evaluate_acos>,  run<evaluate_atan>,  run<evaluate_sinh>, run<evaluate_cosh>,
                                   run<evaluate_asinh>, run<evaluate_acosh>, run<evaluate_atanh>};

bool is_integer(double y) { return std::fabs(y) >= 0x1p52 || double_math::round(y) == y; }
bool is_odd(double y) { return std::fabs(y) < 0x1p53 && is_integer(y) && !is_integer(y * 0.5); }

/// x or e is 0, infinite or NaN, or x is negative or 1: C's rules. False: none of these.
bool special_power(double x, double e, double& result) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  result = 1.0;
  if (e == 0.0 || x == 1.0) return true;
  result = kNan;
  if (std::isnan(x) || std::isnan(e)) return true;
  if (std::isinf(e)) {
    const double magnitude = std::fabs(x);
    result = magnitude == 1.0 ? 1.0 : (magnitude > 1.0) == (e > 0.0) ? kInfinity : 0.0;
    return true;
  }
  if (x == 0.0 || std::isinf(x)) {
    result = (x == 0.0) == (e > 0.0) ? 0.0 : kInfinity;
    if (std::signbit(x) && is_odd(e)) result = -result;
    return true;
  }
  return x < 0.0 && !is_integer(e);
}

float evaluate_power(float x, float e) {
  double result;
  if (special_power(x, e, result)) return static_cast<float>(result);
  result = double_math::exp(static_cast<double>(e) * double_math::log(std::fabs(static_cast<double>(x))));
  return static_cast<float>(x < 0.0f && is_odd(e) ? -result : result);
}

/// The exponents that have an exact short form; false for others.
bool simple_power(float e, const float* x, float* y, std::size_t n) {
  if (e == 2.0f) return unary(Unary::kSquare, x, y, n), true;
  if (e == 1.0f) return unary(Unary::kIdentity, x, y, n), true;
  if (e == -1.0f) return unary(Unary::kReciprocal, x, y, n), true;
  if (e == 3.0f ||
      e == 4.0f) {  // squares of floats are exact in double, so that only the last product and the result round
    for (std::size_t i = 0; i < n; ++i) {
      const double value = x[i], square = value * value;
      y[i] = static_cast<float>(square * (e == 3.0f ? value : square));
    }
    return true;
  }
  if (e != 0.5f) return false;
  for (std::size_t i = 0; i < n; ++i) {
    const float root = std::sqrt(x[i]) + 0.0f;  // pow(-0, 0.5) is +0
    y[i] = x[i] == -std::numeric_limits<float>::infinity() ? -x[i] : root;
  }
  return true;
}

}  // namespace

void rare(Rare function, const float* x, float* y, std::size_t n, Parallel parallel) {
  const Function run = kFunctions[static_cast<int>(function)];
  parallel.parallel_for(n, kChunk, [&](std::size_t begin, std::size_t end) { run(x + begin, y + begin, end - begin); });
}

void power(Operands operands, const float* x, const float* e, float* y, std::size_t n, Parallel parallel) {
  const std::size_t x_step = operands == Operands::kScalarA ? 0 : 1;
  const std::size_t e_step = operands == Operands::kScalarB ? 0 : 1;
  parallel.parallel_for(n, kChunk, [&](std::size_t begin, std::size_t end) {
    if (e_step == 0 && simple_power(*e, x + begin, y + begin, end - begin)) return;
    for (std::size_t i = begin; i < end; ++i) y[i] = evaluate_power(x[i * x_step], e[i * e_step]);
  });
}

}  // namespace sardonyx::kernels
