#pragma once

// Elementary functions of 16 lanes: the one set of polynomials behind every float kernel, so one result on every instruction
// set. Coefficients are near-minimax fits (iteratively reweighted least squares on Chebyshev points, rounded to float).
// The stated errors are measured over every float by math/elementwise_test.cc or its denser offline run.

#include "kernels/simd/vec.h"

namespace sardonyx::kernels::SARDONYX_VARIANT {

/// Horner's rule, coefficients from the highest power down.
template <typename... Rest>
SARDONYX_INLINE F32x16 horner(F32x16 x, F32x16 sum, float next, Rest... rest) {
  sum = fma(sum, x, set1(next));
  if constexpr (sizeof...(rest) > 0) {
    return horner(x, sum, rest...);
  } else {
    return sum;
  }
}
template <typename... Rest>
SARDONYX_INLINE F32x16 polynomial(F32x16 x, float highest, Rest... rest) {
  return horner(x, set1(highest), rest...);
}

/// x = n ln 2 + r with |r| <= ln 2 / 2 (Cody and Waite); n as an integer, and e^r - 1.
struct ReducedExp {
  I32x16 n;
  F32x16 expm1_r;
};
SARDONYX_INLINE ReducedExp reduce_exp(F32x16 x) {
  const F32x16 magic = set1(0x1.8p23f);  // adding it rounds to an integer, which lies in the low bits
  const F32x16 shifted = fma(x, set1(0x1.715476p+0f), magic);
  const F32x16 n = shifted - magic;
  F32x16 r = fma(n, set1(-0x1.62e4p-1f), x);
  r = fma(n, set1(-0x1.7f7d1cp-20f), r);
  const F32x16 q = polynomial(r, 0x1.6a2234p-10f, 0x1.123b06p-7f, 0x1.5558f8p-5f, 0x1.55549p-3f, 0x1.fffffcp-2f);
  return {to_bits(shifted) - to_bits(magic), fma(r * r, q, r)};
}

/// e^x: at most 1 ULP. exp(0) is 1; below -104 exactly +0; overflows to infinity; subnormal results are kept.
SARDONYX_INLINE F32x16 exp(F32x16 x) {
  const F32x16 clamped = max(set1(-105.0f), min(set1(89.0f), x));  // NaN passes: it is the second operand
  const ReducedExp e = reduce_exp(clamped);
  const I32x16 half = e.n >> 1;  // two steps, because 2^n may be out of a float's range
  return (set1(1.0f) + e.expm1_r) * power_of_two(half) * power_of_two(e.n - half);
}

/// e^x - 1: at most 2 ULP.
SARDONYX_INLINE F32x16 expm1(F32x16 x) {
  const F32x16 clamped = max(set1(-30.0f), min(set1(89.0f), x));
  const ReducedExp e = reduce_exp(clamped);
  const M16 top = e.n > set1_int(127);
  const F32x16 scale = power_of_two(min(e.n, set1_int(127)));
  const F32x16 plain = fma(e.expm1_r, scale, scale - set1(1.0f));
  const F32x16 large = fma(e.expm1_r, scale, scale) * set1(2.0f);
  return select(x == zero(), x, select(top, large, plain));
}

/// ln x: at most 1 ULP. log(0) is -infinity, of a negative number NaN; subnormal arguments are exact.
SARDONYX_INLINE F32x16 log(F32x16 x) {
  const M16 subnormal = x < set1(0x1p-126f);
  const F32x16 scaled = select(subnormal, x * set1(0x1p23f), x);
  // x = 2^e (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2)
  const I32x16 bits = to_bits(scaled) - set1_int(0x3f3504f3);
  const I32x16 exponent = bits >> 23;
  const F32x16 f = from_bits((bits & set1_int(0x7fffff)) + set1_int(0x3f3504f3)) - set1(1.0f);
  const F32x16 e = to_float(exponent) - select(subnormal, set1(23.0f), zero());
  const F32x16 p = polynomial(f, 0x1.14567p-4f, -0x1.de3d0cp-4f, 0x1.e6f17cp-4f, -0x1.fc21e4p-4f, 0x1.233752p-3f, -0x1.555c4ep-3f,
                              0x1.99a4b6p-3f, -0x1.000006p-2f, 0x1.555548p-2f);
  const F32x16 f2 = f * f;
  F32x16 low = fma(f2 * f, p, e * set1(-0x1.bd0106p-13f));
  low = fma(f2, set1(-0.5f), low);
  const F32x16 y = fma(e, set1(0x1.63p-1f), f + low);
  const F32x16 infinity = set1(__builtin_inff());
  F32x16 result = select(x == infinity, infinity, y);
  result = select(x == zero(), -infinity, result);
  return select(x < zero(), set1(__builtin_nanf("")), select(is_nan(x), x, result));
}

/// ln(1 + x): at most 2 ULP.
SARDONYX_INLINE F32x16 log1p(F32x16 x) {
  const F32x16 u = set1(1.0f) + x;
  const F32x16 lost = x - (u - set1(1.0f));
  const F32x16 y = log(u) + lost / u;
  const M16 plain = (x == set1(__builtin_inff())) | !(x > set1(-1.0f));
  return select(plain, log(u), select(x == zero(), x, y));
}

/// 1 / (1 + e^-x): at most 2 ULP.
SARDONYX_INLINE F32x16 sigmoid(F32x16 x) {
  const F32x16 e = exp(-abs(x));
  const F32x16 numerator = select(x < zero(), e, set1(1.0f));
  return select(is_nan(x), x, numerator / (set1(1.0f) + e));
}

/// Hyperbolic tangent: at most 2 ULP.
SARDONYX_INLINE F32x16 tanh(F32x16 x) {
  const F32x16 magnitude = abs(x);
  const F32x16 u = x * x;
  const F32x16 p =
      polynomial(u, 0x1.0e9dbp-9f, -0x1.09280ap-7f, 0x1.62fb2cp-6f, -0x1.b9e18ep-5f, 0x1.111026p-3f, -0x1.555552p-2f);
  const F32x16 small = fma(x * u, p, x);
  const F32x16 e = exp(magnitude + magnitude);
  const F32x16 large = copy_sign(set1(1.0f) - set1(2.0f) / (e + set1(1.0f)), x);
  return select(magnitude < set1(0.65f), small, select(is_nan(x), x, large));
}

/// Error function: at most 1e-7 absolute, and relative below 1.
SARDONYX_INLINE F32x16 erf(F32x16 x) {
  const F32x16 magnitude = abs(x);
  const F32x16 u = x * x;
  const F32x16 small = x * polynomial(u, 0x1.4969dcp-14f, -0x1.a3f6dep-11f, 0x1.5405aep-8f, -0x1.b7f90cp-6f, 0x1.ce2cf8p-4f,
                                      -0x1.81273ep-2f, 0x1.20dd74p+0f);
  // erfc over [1, 3.92] in t from -1 to 1; beyond, it is below half an ULP of 1
  const F32x16 t = fma(min(set1(3.92f), magnitude), set1(0x1.5eaf58p-1f), set1(-0x1.af57acp+0f));
  const F32x16 c = polynomial(t, 0x1.c0cd64p-11f, -0x1.ac28ap-10f, -0x1.2a0d3p-9f, 0x1.29f6aep-7f, -0x1.08983ap-7f,
                              -0x1.ac4b94p-8f, 0x1.d64376p-6f, -0x1.716a12p-5f, 0x1.70addcp-5f, -0x1.f56076p-6f,
                              0x1.c882fep-7f, -0x1.fc4d86p-9f, 0x1.07e362p-11f);
  const F32x16 large = copy_sign(set1(1.0f) - c, x);
  return select(magnitude < set1(1.0f), small, large);
}

/// x / 2 (1 + erf(x / sqrt 2)): at most 1e-7 |x| absolute.
SARDONYX_INLINE F32x16 gelu_erf(F32x16 x) {
  const F32x16 half = x * set1(0.5f);
  return half * (set1(1.0f) + erf(x * set1(0x1.6a09e6p-1f)));
}

/// x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
SARDONYX_INLINE F32x16 gelu_tanh(F32x16 x) {
  const F32x16 inner = set1(0x1.988454p-1f) * fma(x * x * x, set1(0.044715f), x);
  return x * set1(0.5f) * (set1(1.0f) + tanh(inner));
}

SARDONYX_INLINE F32x16 silu(F32x16 x) { return x * sigmoid(x); }

/// ln(1 + e^x), without overflow.
SARDONYX_INLINE F32x16 softplus(F32x16 x) {
  const F32x16 y = max(zero(), x) + log1p(exp(-abs(x)));
  return select(is_nan(x), x, y);
}

}  // namespace sardonyx::kernels::SARDONYX_VARIANT
