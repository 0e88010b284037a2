#pragma once

// Plain compiler vectors: right on every architecture, fast on none.

namespace sardonyx::kernels::SARDONYX_VARIANT {

using FloatVector = float __attribute__((vector_size(64)));
using IntVector = int32_t __attribute__((vector_size(64)));
using UnsignedVector = uint32_t __attribute__((vector_size(64)));
using DoubleVector = double __attribute__((vector_size(128)));
using LongVector = int64_t __attribute__((vector_size(128)));

struct F32x16 {
  FloatVector v;
};
struct I32x16 {
  IntVector v;
};
struct M16 {
  IntVector v;  // lanes all ones or all zeros
};

SARDONYX_INLINE M16 first_lanes(size_t n) {
  const IntVector lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  return {lane < (n >= 16 ? 16 : static_cast<int32_t>(n))};
}
SARDONYX_INLINE M16 operator&(M16 a, M16 b) { return {a.v & b.v}; }
SARDONYX_INLINE M16 operator|(M16 a, M16 b) { return {a.v | b.v}; }
SARDONYX_INLINE M16 operator!(M16 a) { return {~a.v}; }
SARDONYX_INLINE bool any(M16 a) {
  int32_t bits = 0;
  for (int i = 0; i < 16; ++i) bits |= a.v[i];
  return bits != 0;
}
SARDONYX_INLINE bool all(M16 a) { return !any(!a); }

SARDONYX_INLINE F32x16 set1(float x) { return {x - FloatVector{}}; }
SARDONYX_INLINE F32x16 zero() { return {FloatVector{}}; }
SARDONYX_INLINE F32x16 load(const float* p) {
  F32x16 a;
  __builtin_memcpy(&a.v, p, sizeof a.v);
  return a;
}
SARDONYX_INLINE F32x16 load_partial(const float* p, size_t n) {
  F32x16 a = zero();
  for (size_t i = 0; i < 16 && i < n; ++i) a.v[i] = p[i];
  return a;
}
SARDONYX_INLINE void store(float* p, F32x16 a) { __builtin_memcpy(p, &a.v, sizeof a.v); }
SARDONYX_INLINE void store_partial(float* p, size_t n, F32x16 a) {
  for (size_t i = 0; i < 16 && i < n; ++i) p[i] = a.v[i];
}

SARDONYX_INLINE M16 operator<(F32x16 a, F32x16 b) { return {a.v < b.v}; }
SARDONYX_INLINE M16 operator<=(F32x16 a, F32x16 b) { return {a.v <= b.v}; }
SARDONYX_INLINE M16 operator>(F32x16 a, F32x16 b) { return {a.v > b.v}; }
SARDONYX_INLINE M16 operator>=(F32x16 a, F32x16 b) { return {a.v >= b.v}; }
SARDONYX_INLINE M16 operator==(F32x16 a, F32x16 b) { return {a.v == b.v}; }
SARDONYX_INLINE M16 unordered(F32x16 a, F32x16 b) { return {(a.v != a.v) | (b.v != b.v)}; }

SARDONYX_INLINE I32x16 to_bits(F32x16 a) { return {reinterpret_cast<IntVector>(a.v)}; }
SARDONYX_INLINE F32x16 from_bits(I32x16 a) { return {reinterpret_cast<FloatVector>(a.v)}; }
SARDONYX_INLINE I32x16 select(M16 m, I32x16 yes, I32x16 no) { return {(m.v & yes.v) | (~m.v & no.v)}; }
SARDONYX_INLINE F32x16 select(M16 m, F32x16 yes, F32x16 no) { return from_bits(select(m, to_bits(yes), to_bits(no))); }

SARDONYX_INLINE F32x16 operator+(F32x16 a, F32x16 b) { return {a.v + b.v}; }
SARDONYX_INLINE F32x16 operator-(F32x16 a, F32x16 b) { return {a.v - b.v}; }
SARDONYX_INLINE F32x16 operator*(F32x16 a, F32x16 b) { return {a.v * b.v}; }
SARDONYX_INLINE F32x16 operator/(F32x16 a, F32x16 b) { return {a.v / b.v}; }
SARDONYX_INLINE F32x16 min(F32x16 a, F32x16 b) { return select(a < b, a, b); }
SARDONYX_INLINE F32x16 max(F32x16 a, F32x16 b) { return select(a > b, a, b); }

// The product of two floats is exact in double. Their sum with c is rounded to odd (of the two doubles around an inexact sum,
// the one with an odd last bit), so that the final rounding to float sees whether anything was lost: Boldo and Melquiond,
// "Emulation of FMA and correctly rounded sums", 2008. The error of the double sum is Knuth's exact one.
SARDONYX_INLINE F32x16 fma(F32x16 a, F32x16 b, F32x16 c) {
  const DoubleVector product = __builtin_convertvector(a.v, DoubleVector) * __builtin_convertvector(b.v, DoubleVector);
  const DoubleVector addend = __builtin_convertvector(c.v, DoubleVector);
  const DoubleVector sum = product + addend;
  const DoubleVector back = sum - product;
  const DoubleVector error = (product - (sum - back)) + (addend - back);
  const LongVector bits = reinterpret_cast<LongVector>(sum);
  const LongVector inexact = (error < 0.0) | (error > 0.0);  // neither for NaN: sums with infinities stay
  const LongVector even = (bits & 1) - 1;                    // all ones where the last bit is 0
  const LongVector outward = (error > 0.0) ^ (sum < 0.0);    // the exact sum is larger in magnitude
  const LongVector step = (outward & 2) - 1;
  const DoubleVector odd = reinterpret_cast<DoubleVector>(bits + (step & inexact & even));
  return {__builtin_convertvector(odd, FloatVector)};
}
SARDONYX_INLINE F32x16 sqrt(F32x16 a) {
  F32x16 r;
  for (int i = 0; i < 16; ++i) r.v[i] = __builtin_sqrtf(a.v[i]);
  return r;
}

// Adding 2^23 with the sign of x drops the fraction of a smaller number, rounding to nearest even.
SARDONYX_INLINE F32x16 round(F32x16 a) {
  const IntVector sign = to_bits(a).v & INT32_MIN;
  const F32x16 magnitude = from_bits({to_bits(a).v & INT32_MAX});
  const F32x16 large = set1(8388608.0f);
  const F32x16 rounded = from_bits({to_bits((magnitude + large) - large).v | sign});
  return select(magnitude < large, rounded, a);
}
SARDONYX_INLINE F32x16 floor(F32x16 a) {
  const F32x16 r = round(a);
  return select(r > a, r - set1(1.0f), r);
}
SARDONYX_INLINE F32x16 ceil(F32x16 a) {
  const F32x16 r = round(a);
  const F32x16 up = r + set1(1.0f);
  return select(r < a, from_bits({to_bits(up).v | (to_bits(a).v & INT32_MIN)}), r);
}
SARDONYX_INLINE F32x16 trunc(F32x16 a) {
  const IntVector sign = to_bits(a).v & INT32_MIN;
  const F32x16 down = floor(from_bits({to_bits(a).v & INT32_MAX}));
  return from_bits({to_bits(down).v | sign});
}

SARDONYX_INLINE I32x16 set1_int(int32_t x) { return {x - IntVector{}}; }
SARDONYX_INLINE I32x16 load(const int32_t* p) {
  I32x16 a;
  __builtin_memcpy(&a.v, p, sizeof a.v);
  return a;
}
SARDONYX_INLINE I32x16 load_partial(const int32_t* p, size_t n) {
  I32x16 a = {IntVector{}};
  for (size_t i = 0; i < 16 && i < n; ++i) a.v[i] = p[i];
  return a;
}
SARDONYX_INLINE void store(int32_t* p, I32x16 a) { __builtin_memcpy(p, &a.v, sizeof a.v); }
SARDONYX_INLINE void store_partial(int32_t* p, size_t n, I32x16 a) {
  for (size_t i = 0; i < 16 && i < n; ++i) p[i] = a.v[i];
}
// Wrap-around arithmetic, as the vector instructions do.
SARDONYX_INLINE UnsignedVector as_unsigned(I32x16 a) { return reinterpret_cast<UnsignedVector>(a.v); }
SARDONYX_INLINE I32x16 as_signed(UnsignedVector a) { return {reinterpret_cast<IntVector>(a)}; }
SARDONYX_INLINE I32x16 operator+(I32x16 a, I32x16 b) { return as_signed(as_unsigned(a) + as_unsigned(b)); }
SARDONYX_INLINE I32x16 operator-(I32x16 a, I32x16 b) { return as_signed(as_unsigned(a) - as_unsigned(b)); }
SARDONYX_INLINE I32x16 operator*(I32x16 a, I32x16 b) { return as_signed(as_unsigned(a) * as_unsigned(b)); }
SARDONYX_INLINE I32x16 operator&(I32x16 a, I32x16 b) { return {a.v & b.v}; }
SARDONYX_INLINE I32x16 operator|(I32x16 a, I32x16 b) { return {a.v | b.v}; }
SARDONYX_INLINE I32x16 operator^(I32x16 a, I32x16 b) { return {a.v ^ b.v}; }
SARDONYX_INLINE I32x16 operator<<(I32x16 a, int n) { return as_signed(as_unsigned(a) << n); }
SARDONYX_INLINE I32x16 operator>>(I32x16 a, int n) { return {a.v >> n}; }
SARDONYX_INLINE I32x16 shift_right_logical(I32x16 a, int n) { return as_signed(as_unsigned(a) >> n); }
SARDONYX_INLINE M16 operator==(I32x16 a, I32x16 b) { return {a.v == b.v}; }
SARDONYX_INLINE M16 operator>(I32x16 a, I32x16 b) { return {a.v > b.v}; }
SARDONYX_INLINE I32x16 min(I32x16 a, I32x16 b) { return select(b > a, a, b); }
SARDONYX_INLINE I32x16 max(I32x16 a, I32x16 b) { return select(a > b, a, b); }

SARDONYX_INLINE I32x16 to_int(F32x16 a) { return {__builtin_convertvector(round(a).v, IntVector)}; }
SARDONYX_INLINE F32x16 to_float(I32x16 a) { return {__builtin_convertvector(a.v, FloatVector)}; }

SARDONYX_INLINE I32x16 load_widen(const uint8_t* p) {
  I32x16 a;
  for (int i = 0; i < 16; ++i) a.v[i] = p[i];
  return a;
}
SARDONYX_INLINE I32x16 load_widen(const int8_t* p) {
  I32x16 a;
  for (int i = 0; i < 16; ++i) a.v[i] = p[i];
  return a;
}
SARDONYX_INLINE I32x16 load_widen(const uint16_t* p) {
  I32x16 a;
  for (int i = 0; i < 16; ++i) a.v[i] = p[i];
  return a;
}
/// The low byte or half word of every lane.
SARDONYX_INLINE void store_narrow(uint8_t* p, I32x16 a) {
  for (int i = 0; i < 16; ++i) p[i] = static_cast<uint8_t>(a.v[i]);
}
SARDONYX_INLINE void store_narrow(uint16_t* p, I32x16 a) {
  for (int i = 0; i < 16; ++i) p[i] = static_cast<uint16_t>(a.v[i]);
}

// As the F16C instructions: a NaN becomes quiet and keeps the top of its payload.
SARDONYX_INLINE F32x16 load_half(const uint16_t* p) {
  const I32x16 half = load_widen(p);
  const I32x16 sign = (half & set1_int(0x8000)) << 16;
  const I32x16 magnitude = half & set1_int(0x7fff);
  const I32x16 normal = (magnitude << 13) + set1_int(112 << 23);
  const I32x16 special = (magnitude << 13) | set1_int(0x7f800000) | select(magnitude > set1_int(0x7c00), set1_int(1 << 22), set1_int(0));
  const I32x16 subnormal = to_bits(to_float(magnitude) * set1(0x1p-24f));
  const I32x16 finite = select(magnitude > set1_int(0x3ff), normal, subnormal);
  return from_bits(sign | select(magnitude > set1_int(0x7bff), special, finite));
}
SARDONYX_INLINE void store_half(uint16_t* p, F32x16 a) {
  const I32x16 bits = to_bits(a);
  const I32x16 sign = shift_right_logical(bits, 16) & set1_int(0x8000);
  const I32x16 magnitude = bits & set1_int(INT32_MAX);
  const I32x16 nan = set1_int(0x7e00) | ((magnitude >> 13) & set1_int(0x3ff));
  const I32x16 subnormal = to_bits(from_bits(magnitude) + set1(0.5f)) - set1_int(0x3f000000);
  const I32x16 rounded = magnitude + set1_int(0xfff) + ((magnitude >> 13) & set1_int(1));
  I32x16 code = (rounded - set1_int(112 << 23)) >> 13;
  code = select(set1_int(0x38800000) > magnitude, subnormal, code);
  code = select(magnitude > set1_int(0x477fefff), set1_int(0x7c00), code);
  store_narrow(p, sign | select(magnitude > set1_int(0x7f800000), nan, code));
}

/// Every second element of a followed by b, from the first and from the second.
SARDONYX_INLINE void deinterleave(F32x16 a, F32x16 b, F32x16& even, F32x16& odd) {
  for (int i = 0; i < 8; ++i) {
    even.v[i] = a.v[2 * i];
    odd.v[i] = a.v[2 * i + 1];
    even.v[i + 8] = b.v[2 * i];
    odd.v[i + 8] = b.v[2 * i + 1];
  }
}

/// Rows become columns.
SARDONYX_INLINE void transpose(F32x16 (&r)[16]) {
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < i; ++j) {
      const float swapped = r[i].v[j];
      r[i].v[j] = r[j].v[i];
      r[j].v[i] = swapped;
    }
  }
}

// Lanes l and l + 8, then l + 4, l + 2, l + 1.
SARDONYX_INLINE float reduce_add(F32x16 a) {
  for (int half = 8; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) a.v[i] = a.v[i] + a.v[i + half];
  }
  return a.v[0];
}
SARDONYX_INLINE float reduce_max(F32x16 a) {
  for (int half = 8; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) a.v[i] = a.v[i] > a.v[i + half] ? a.v[i] : a.v[i + half];
  }
  return a.v[0];
}
SARDONYX_INLINE float reduce_min(F32x16 a) {
  for (int half = 8; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i) a.v[i] = a.v[i] < a.v[i + half] ? a.v[i] : a.v[i + half];
  }
  return a.v[0];
}

}  // namespace sardonyx::kernels::SARDONYX_VARIANT
