#pragma once

#include <immintrin.h>

namespace sardonyx::kernels::SARDONYX_VARIANT {

struct F32x16 {
  __m256 lo, hi;
};
struct I32x16 {
  __m256i lo, hi;
};
struct M16 {
  __m256i lo, hi;  // lanes all ones or all zeros
};

SARDONYX_INLINE M16 first_lanes(size_t n) {
  const __m256i count = _mm256_set1_epi32(n >= 16 ? 16 : static_cast<int>(n));
  return {_mm256_cmpgt_epi32(count, _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)),
          _mm256_cmpgt_epi32(count, _mm256_setr_epi32(8, 9, 10, 11, 12, 13, 14, 15))};
}
SARDONYX_INLINE M16 operator&(M16 a, M16 b) { return {_mm256_and_si256(a.lo, b.lo), _mm256_and_si256(a.hi, b.hi)}; }
SARDONYX_INLINE M16 operator|(M16 a, M16 b) { return {_mm256_or_si256(a.lo, b.lo), _mm256_or_si256(a.hi, b.hi)}; }
SARDONYX_INLINE M16 operator!(M16 a) {
  const __m256i ones = _mm256_set1_epi32(-1);
  return {_mm256_xor_si256(a.lo, ones), _mm256_xor_si256(a.hi, ones)};
}
SARDONYX_INLINE bool any(M16 a) { return _mm256_movemask_epi8(_mm256_or_si256(a.lo, a.hi)) != 0; }
SARDONYX_INLINE bool all(M16 a) { return _mm256_movemask_epi8(_mm256_and_si256(a.lo, a.hi)) == -1; }

SARDONYX_INLINE F32x16 zero() { return {_mm256_setzero_ps(), _mm256_setzero_ps()}; }
SARDONYX_INLINE F32x16 set1(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
SARDONYX_INLINE F32x16 load(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
SARDONYX_INLINE F32x16 load_partial(const float* p, size_t n) {
  const M16 m = first_lanes(n);
  return {_mm256_maskload_ps(p, m.lo), n > 8 ? _mm256_maskload_ps(p + 8, m.hi) : _mm256_setzero_ps()};
}
SARDONYX_INLINE void store(float* p, F32x16 a) {
  _mm256_storeu_ps(p, a.lo);
  _mm256_storeu_ps(p + 8, a.hi);
}
SARDONYX_INLINE void store_partial(float* p, size_t n, F32x16 a) {
  const M16 m = first_lanes(n);
  _mm256_maskstore_ps(p, m.lo, a.lo);
  if (n > 8) _mm256_maskstore_ps(p + 8, m.hi, a.hi);
}

SARDONYX_INLINE F32x16 operator+(F32x16 a, F32x16 b) { return {_mm256_add_ps(a.lo, b.lo), _mm256_add_ps(a.hi, b.hi)}; }
SARDONYX_INLINE F32x16 operator-(F32x16 a, F32x16 b) { return {_mm256_sub_ps(a.lo, b.lo), _mm256_sub_ps(a.hi, b.hi)}; }
SARDONYX_INLINE F32x16 operator*(F32x16 a, F32x16 b) { return {_mm256_mul_ps(a.lo, b.lo), _mm256_mul_ps(a.hi, b.hi)}; }
SARDONYX_INLINE F32x16 operator/(F32x16 a, F32x16 b) { return {_mm256_div_ps(a.lo, b.lo), _mm256_div_ps(a.hi, b.hi)}; }
SARDONYX_INLINE F32x16 min(F32x16 a, F32x16 b) { return {_mm256_min_ps(a.lo, b.lo), _mm256_min_ps(a.hi, b.hi)}; }
SARDONYX_INLINE F32x16 max(F32x16 a, F32x16 b) { return {_mm256_max_ps(a.lo, b.lo), _mm256_max_ps(a.hi, b.hi)}; }
SARDONYX_INLINE F32x16 fma(F32x16 a, F32x16 b, F32x16 c) {
  return {_mm256_fmadd_ps(a.lo, b.lo, c.lo), _mm256_fmadd_ps(a.hi, b.hi, c.hi)};
}
SARDONYX_INLINE F32x16 sqrt(F32x16 a) { return {_mm256_sqrt_ps(a.lo), _mm256_sqrt_ps(a.hi)}; }
SARDONYX_INLINE F32x16 round(F32x16 a) {
  constexpr int kMode = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
  return {_mm256_round_ps(a.lo, kMode), _mm256_round_ps(a.hi, kMode)};
}
SARDONYX_INLINE F32x16 floor(F32x16 a) { return {_mm256_floor_ps(a.lo), _mm256_floor_ps(a.hi)}; }
SARDONYX_INLINE F32x16 ceil(F32x16 a) { return {_mm256_ceil_ps(a.lo), _mm256_ceil_ps(a.hi)}; }
SARDONYX_INLINE F32x16 trunc(F32x16 a) {
  constexpr int kMode = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
  return {_mm256_round_ps(a.lo, kMode), _mm256_round_ps(a.hi, kMode)};
}

SARDONYX_INLINE M16 operator<(F32x16 a, F32x16 b) {
  return {_mm256_castps_si256(_mm256_cmp_ps(a.lo, b.lo, _CMP_LT_OQ)), _mm256_castps_si256(_mm256_cmp_ps(a.hi, b.hi, _CMP_LT_OQ))};
}
SARDONYX_INLINE M16 operator<=(F32x16 a, F32x16 b) {
  return {_mm256_castps_si256(_mm256_cmp_ps(a.lo, b.lo, _CMP_LE_OQ)), _mm256_castps_si256(_mm256_cmp_ps(a.hi, b.hi, _CMP_LE_OQ))};
}
SARDONYX_INLINE M16 operator>(F32x16 a, F32x16 b) {
  return {_mm256_castps_si256(_mm256_cmp_ps(a.lo, b.lo, _CMP_GT_OQ)), _mm256_castps_si256(_mm256_cmp_ps(a.hi, b.hi, _CMP_GT_OQ))};
}
SARDONYX_INLINE M16 operator>=(F32x16 a, F32x16 b) {
  return {_mm256_castps_si256(_mm256_cmp_ps(a.lo, b.lo, _CMP_GE_OQ)), _mm256_castps_si256(_mm256_cmp_ps(a.hi, b.hi, _CMP_GE_OQ))};
}
SARDONYX_INLINE M16 operator==(F32x16 a, F32x16 b) {
  return {_mm256_castps_si256(_mm256_cmp_ps(a.lo, b.lo, _CMP_EQ_OQ)), _mm256_castps_si256(_mm256_cmp_ps(a.hi, b.hi, _CMP_EQ_OQ))};
}
SARDONYX_INLINE M16 unordered(F32x16 a, F32x16 b) {
  return {_mm256_castps_si256(_mm256_cmp_ps(a.lo, b.lo, _CMP_UNORD_Q)), _mm256_castps_si256(_mm256_cmp_ps(a.hi, b.hi, _CMP_UNORD_Q))};
}
SARDONYX_INLINE F32x16 select(M16 m, F32x16 yes, F32x16 no) {
  return {_mm256_blendv_ps(no.lo, yes.lo, _mm256_castsi256_ps(m.lo)), _mm256_blendv_ps(no.hi, yes.hi, _mm256_castsi256_ps(m.hi))};
}

SARDONYX_INLINE I32x16 set1_int(int32_t x) { return {_mm256_set1_epi32(x), _mm256_set1_epi32(x)}; }
SARDONYX_INLINE I32x16 load(const int32_t* p) {
  return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)), _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 8))};
}
SARDONYX_INLINE I32x16 load_partial(const int32_t* p, size_t n) {
  const M16 m = first_lanes(n);
  return {_mm256_maskload_epi32(p, m.lo), n > 8 ? _mm256_maskload_epi32(p + 8, m.hi) : _mm256_setzero_si256()};
}
SARDONYX_INLINE void store(int32_t* p, I32x16 a) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), a.lo);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p + 8), a.hi);
}
SARDONYX_INLINE void store_partial(int32_t* p, size_t n, I32x16 a) {
  const M16 m = first_lanes(n);
  _mm256_maskstore_epi32(p, m.lo, a.lo);
  if (n > 8) _mm256_maskstore_epi32(p + 8, m.hi, a.hi);
}
SARDONYX_INLINE I32x16 operator+(I32x16 a, I32x16 b) { return {_mm256_add_epi32(a.lo, b.lo), _mm256_add_epi32(a.hi, b.hi)}; }
SARDONYX_INLINE I32x16 operator-(I32x16 a, I32x16 b) { return {_mm256_sub_epi32(a.lo, b.lo), _mm256_sub_epi32(a.hi, b.hi)}; }
SARDONYX_INLINE I32x16 operator*(I32x16 a, I32x16 b) { return {_mm256_mullo_epi32(a.lo, b.lo), _mm256_mullo_epi32(a.hi, b.hi)}; }
SARDONYX_INLINE I32x16 operator&(I32x16 a, I32x16 b) { return {_mm256_and_si256(a.lo, b.lo), _mm256_and_si256(a.hi, b.hi)}; }
SARDONYX_INLINE I32x16 operator|(I32x16 a, I32x16 b) { return {_mm256_or_si256(a.lo, b.lo), _mm256_or_si256(a.hi, b.hi)}; }
SARDONYX_INLINE I32x16 operator^(I32x16 a, I32x16 b) { return {_mm256_xor_si256(a.lo, b.lo), _mm256_xor_si256(a.hi, b.hi)}; }
SARDONYX_INLINE I32x16 min(I32x16 a, I32x16 b) { return {_mm256_min_epi32(a.lo, b.lo), _mm256_min_epi32(a.hi, b.hi)}; }
SARDONYX_INLINE I32x16 max(I32x16 a, I32x16 b) { return {_mm256_max_epi32(a.lo, b.lo), _mm256_max_epi32(a.hi, b.hi)}; }
SARDONYX_INLINE M16 operator==(I32x16 a, I32x16 b) { return {_mm256_cmpeq_epi32(a.lo, b.lo), _mm256_cmpeq_epi32(a.hi, b.hi)}; }
SARDONYX_INLINE M16 operator>(I32x16 a, I32x16 b) { return {_mm256_cmpgt_epi32(a.lo, b.lo), _mm256_cmpgt_epi32(a.hi, b.hi)}; }
SARDONYX_INLINE I32x16 operator<<(I32x16 a, int n) { return {_mm256_slli_epi32(a.lo, n), _mm256_slli_epi32(a.hi, n)}; }
SARDONYX_INLINE I32x16 operator>>(I32x16 a, int n) { return {_mm256_srai_epi32(a.lo, n), _mm256_srai_epi32(a.hi, n)}; }
SARDONYX_INLINE I32x16 shift_right_logical(I32x16 a, int n) { return {_mm256_srli_epi32(a.lo, n), _mm256_srli_epi32(a.hi, n)}; }
SARDONYX_INLINE I32x16 select(M16 m, I32x16 yes, I32x16 no) {
  return {_mm256_blendv_epi8(no.lo, yes.lo, m.lo), _mm256_blendv_epi8(no.hi, yes.hi, m.hi)};
}

SARDONYX_INLINE I32x16 to_bits(F32x16 a) { return {_mm256_castps_si256(a.lo), _mm256_castps_si256(a.hi)}; }
SARDONYX_INLINE F32x16 from_bits(I32x16 a) { return {_mm256_castsi256_ps(a.lo), _mm256_castsi256_ps(a.hi)}; }
SARDONYX_INLINE I32x16 to_int(F32x16 a) { return {_mm256_cvtps_epi32(a.lo), _mm256_cvtps_epi32(a.hi)}; }
SARDONYX_INLINE F32x16 to_float(I32x16 a) { return {_mm256_cvtepi32_ps(a.lo), _mm256_cvtepi32_ps(a.hi)}; }

SARDONYX_INLINE I32x16 load_widen(const uint8_t* p) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  return {_mm256_cvtepu8_epi32(bytes), _mm256_cvtepu8_epi32(_mm_srli_si128(bytes, 8))};
}
SARDONYX_INLINE I32x16 load_widen(const int8_t* p) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  return {_mm256_cvtepi8_epi32(bytes), _mm256_cvtepi8_epi32(_mm_srli_si128(bytes, 8))};
}
SARDONYX_INLINE I32x16 load_widen(const uint16_t* p) {
  const __m256i words = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  return {_mm256_cvtepu16_epi32(_mm256_castsi256_si128(words)), _mm256_cvtepu16_epi32(_mm256_extracti128_si256(words, 1))};
}
/// The low byte or half word of every lane.
SARDONYX_INLINE void store_narrow(uint16_t* p, I32x16 a) {
  const __m256i mask = _mm256_set1_epi32(0xffff);
  const __m256i mixed = _mm256_packus_epi32(_mm256_and_si256(a.lo, mask), _mm256_and_si256(a.hi, mask));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm256_permute4x64_epi64(mixed, 0xd8));
}
SARDONYX_INLINE void store_narrow(uint8_t* p, I32x16 a) {
  const __m256i mask = _mm256_set1_epi32(0xff);
  const __m256i mixed = _mm256_packus_epi32(_mm256_and_si256(a.lo, mask), _mm256_and_si256(a.hi, mask));
  const __m256i words = _mm256_permute4x64_epi64(mixed, 0xd8);
  const __m128i bytes = _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), bytes);
}

SARDONYX_INLINE F32x16 load_half(const uint16_t* p) {
  return {_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))),
          _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 8)))};
}
SARDONYX_INLINE void store_half(uint16_t* p, F32x16 a) {
  constexpr int kMode = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_cvtps_ph(a.lo, kMode));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p + 8), _mm256_cvtps_ph(a.hi, kMode));
}

SARDONYX_INLINE __m256 gather_halves(__m256 mixed) {
  return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(mixed), 0xd8));
}
/// Every second element of a followed by b, from the first and from the second.
SARDONYX_INLINE void deinterleave(F32x16 a, F32x16 b, F32x16& even, F32x16& odd) {
  even = {gather_halves(_mm256_shuffle_ps(a.lo, a.hi, 0x88)), gather_halves(_mm256_shuffle_ps(b.lo, b.hi, 0x88))};
  odd = {gather_halves(_mm256_shuffle_ps(a.lo, a.hi, 0xdd)), gather_halves(_mm256_shuffle_ps(b.lo, b.hi, 0xdd))};
}

SARDONYX_INLINE void transpose_8x8(__m256 (&r)[8]) {
  __m256 t[8], u[8];
#pragma GCC unroll 4
  for (int i = 0; i < 8; i += 2) {
    t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
    t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
  }
#pragma GCC unroll 2
  for (int g = 0; g < 8; g += 4) {
    u[g] = _mm256_shuffle_ps(t[g], t[g + 2], 0x44);
    u[g + 1] = _mm256_shuffle_ps(t[g], t[g + 2], 0xee);
    u[g + 2] = _mm256_shuffle_ps(t[g + 1], t[g + 3], 0x44);
    u[g + 3] = _mm256_shuffle_ps(t[g + 1], t[g + 3], 0xee);
  }
#pragma GCC unroll 4
  for (int c = 0; c < 4; ++c) {
    r[c] = _mm256_permute2f128_ps(u[c], u[c + 4], 0x20);
    r[c + 4] = _mm256_permute2f128_ps(u[c], u[c + 4], 0x31);
  }
}
/// Rows become columns.
SARDONYX_INLINE void transpose(F32x16 (&r)[16]) {
  __m256 a[8], b[8], c[8], d[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    a[i] = r[i].lo;
    b[i] = r[i].hi;
    c[i] = r[i + 8].lo;
    d[i] = r[i + 8].hi;
  }
  transpose_8x8(a);
  transpose_8x8(b);
  transpose_8x8(c);
  transpose_8x8(d);
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) {
    r[i] = {a[i], c[i]};
    r[i + 8] = {b[i], d[i]};
  }
}

// Lanes l and l + 8, then l + 4, l + 2, l + 1.
SARDONYX_INLINE float reduce_add(F32x16 a) {
  const __m256 f8 = _mm256_add_ps(a.lo, a.hi);
  const __m128 f4 = _mm_add_ps(_mm256_castps256_ps128(f8), _mm256_extractf128_ps(f8, 1));
  const __m128 f2 = _mm_add_ps(f4, _mm_movehl_ps(f4, f4));
  return _mm_cvtss_f32(_mm_add_ss(f2, _mm_movehdup_ps(f2)));
}
SARDONYX_INLINE float reduce_max(F32x16 a) {
  const __m256 f8 = _mm256_max_ps(a.lo, a.hi);
  const __m128 f4 = _mm_max_ps(_mm256_castps256_ps128(f8), _mm256_extractf128_ps(f8, 1));
  const __m128 f2 = _mm_max_ps(f4, _mm_movehl_ps(f4, f4));
  return _mm_cvtss_f32(_mm_max_ss(f2, _mm_movehdup_ps(f2)));
}
SARDONYX_INLINE float reduce_min(F32x16 a) {
  const __m256 f8 = _mm256_min_ps(a.lo, a.hi);
  const __m128 f4 = _mm_min_ps(_mm256_castps256_ps128(f8), _mm256_extractf128_ps(f8, 1));
  const __m128 f2 = _mm_min_ps(f4, _mm_movehl_ps(f4, f4));
  return _mm_cvtss_f32(_mm_min_ss(f2, _mm_movehdup_ps(f2)));
}

}  // namespace sardonyx::kernels::SARDONYX_VARIANT
