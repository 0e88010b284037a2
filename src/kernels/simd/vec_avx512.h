#pragma once

#include <immintrin.h>

namespace sardonyx::kernels::SARDONYX_VARIANT {

struct F32x16 {
  __m512 v;
};
struct I32x16 {
  __m512i v;
};
struct M16 {
  __mmask16 v;
};

SARDONYX_INLINE M16 first_lanes(size_t n) { return {static_cast<__mmask16>(n >= 16 ? 0xffff : (1u << n) - 1)}; }
SARDONYX_INLINE M16 operator&(M16 a, M16 b) { return {static_cast<__mmask16>(a.v & b.v)}; }
SARDONYX_INLINE M16 operator|(M16 a, M16 b) { return {static_cast<__mmask16>(a.v | b.v)}; }
SARDONYX_INLINE M16 operator!(M16 a) { return {static_cast<__mmask16>(~a.v)}; }
SARDONYX_INLINE bool any(M16 a) { return a.v != 0; }
SARDONYX_INLINE bool all(M16 a) { return a.v == 0xffff; }

SARDONYX_INLINE F32x16 zero() { return {_mm512_setzero_ps()}; }
SARDONYX_INLINE F32x16 set1(float x) { return {_mm512_set1_ps(x)}; }
SARDONYX_INLINE F32x16 load(const float* p) { return {_mm512_loadu_ps(p)}; }
SARDONYX_INLINE F32x16 load_partial(const float* p, size_t n) { return {_mm512_maskz_loadu_ps(first_lanes(n).v, p)}; }
SARDONYX_INLINE void store(float* p, F32x16 a) { _mm512_storeu_ps(p, a.v); }
SARDONYX_INLINE void store_partial(float* p, size_t n, F32x16 a) { _mm512_mask_storeu_ps(p, first_lanes(n).v, a.v); }

SARDONYX_INLINE F32x16 operator+(F32x16 a, F32x16 b) { return {_mm512_add_ps(a.v, b.v)}; }
SARDONYX_INLINE F32x16 operator-(F32x16 a, F32x16 b) { return {_mm512_sub_ps(a.v, b.v)}; }
SARDONYX_INLINE F32x16 operator*(F32x16 a, F32x16 b) { return {_mm512_mul_ps(a.v, b.v)}; }
SARDONYX_INLINE F32x16 operator/(F32x16 a, F32x16 b) { return {_mm512_div_ps(a.v, b.v)}; }
SARDONYX_INLINE F32x16 fma(F32x16 a, F32x16 b, F32x16 c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }
SARDONYX_INLINE F32x16 min(F32x16 a, F32x16 b) { return {_mm512_min_ps(a.v, b.v)}; }
SARDONYX_INLINE F32x16 max(F32x16 a, F32x16 b) { return {_mm512_max_ps(a.v, b.v)}; }
SARDONYX_INLINE F32x16 sqrt(F32x16 a) { return {_mm512_sqrt_ps(a.v)}; }
SARDONYX_INLINE F32x16 round(F32x16 a) {
  return {_mm512_roundscale_ps(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
}
SARDONYX_INLINE F32x16 floor(F32x16 a) { return {_mm512_roundscale_ps(a.v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)}; }
SARDONYX_INLINE F32x16 ceil(F32x16 a) { return {_mm512_roundscale_ps(a.v, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC)}; }
SARDONYX_INLINE F32x16 trunc(F32x16 a) { return {_mm512_roundscale_ps(a.v, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)}; }

SARDONYX_INLINE M16 operator<(F32x16 a, F32x16 b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ)}; }
SARDONYX_INLINE M16 operator<=(F32x16 a, F32x16 b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_LE_OQ)}; }
SARDONYX_INLINE M16 operator>(F32x16 a, F32x16 b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_GT_OQ)}; }
SARDONYX_INLINE M16 operator>=(F32x16 a, F32x16 b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_GE_OQ)}; }
SARDONYX_INLINE M16 operator==(F32x16 a, F32x16 b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_EQ_OQ)}; }
SARDONYX_INLINE M16 unordered(F32x16 a, F32x16 b) { return {_mm512_cmp_ps_mask(a.v, b.v, _CMP_UNORD_Q)}; }
SARDONYX_INLINE F32x16 select(M16 m, F32x16 yes, F32x16 no) { return {_mm512_mask_blend_ps(m.v, no.v, yes.v)}; }

SARDONYX_INLINE I32x16 set1_int(int32_t x) { return {_mm512_set1_epi32(x)}; }
SARDONYX_INLINE I32x16 load(const int32_t* p) { return {_mm512_loadu_si512(p)}; }
SARDONYX_INLINE I32x16 load_partial(const int32_t* p, size_t n) { return {_mm512_maskz_loadu_epi32(first_lanes(n).v, p)}; }
SARDONYX_INLINE void store(int32_t* p, I32x16 a) { _mm512_storeu_si512(p, a.v); }
SARDONYX_INLINE void store_partial(int32_t* p, size_t n, I32x16 a) { _mm512_mask_storeu_epi32(p, first_lanes(n).v, a.v); }
SARDONYX_INLINE I32x16 operator+(I32x16 a, I32x16 b) { return {_mm512_add_epi32(a.v, b.v)}; }
SARDONYX_INLINE I32x16 operator-(I32x16 a, I32x16 b) { return {_mm512_sub_epi32(a.v, b.v)}; }
SARDONYX_INLINE I32x16 operator*(I32x16 a, I32x16 b) { return {_mm512_mullo_epi32(a.v, b.v)}; }
SARDONYX_INLINE I32x16 operator&(I32x16 a, I32x16 b) { return {_mm512_and_si512(a.v, b.v)}; }
SARDONYX_INLINE I32x16 operator|(I32x16 a, I32x16 b) { return {_mm512_or_si512(a.v, b.v)}; }
SARDONYX_INLINE I32x16 operator^(I32x16 a, I32x16 b) { return {_mm512_xor_si512(a.v, b.v)}; }
SARDONYX_INLINE I32x16 operator<<(I32x16 a, int n) { return {_mm512_slli_epi32(a.v, static_cast<unsigned>(n))}; }
SARDONYX_INLINE I32x16 operator>>(I32x16 a, int n) { return {_mm512_srai_epi32(a.v, static_cast<unsigned>(n))}; }
SARDONYX_INLINE I32x16 shift_right_logical(I32x16 a, int n) { return {_mm512_srli_epi32(a.v, static_cast<unsigned>(n))}; }
SARDONYX_INLINE I32x16 min(I32x16 a, I32x16 b) { return {_mm512_min_epi32(a.v, b.v)}; }
SARDONYX_INLINE I32x16 max(I32x16 a, I32x16 b) { return {_mm512_max_epi32(a.v, b.v)}; }
SARDONYX_INLINE M16 operator==(I32x16 a, I32x16 b) { return {_mm512_cmpeq_epi32_mask(a.v, b.v)}; }
SARDONYX_INLINE M16 operator>(I32x16 a, I32x16 b) { return {_mm512_cmpgt_epi32_mask(a.v, b.v)}; }
SARDONYX_INLINE I32x16 select(M16 m, I32x16 yes, I32x16 no) { return {_mm512_mask_blend_epi32(m.v, no.v, yes.v)}; }

SARDONYX_INLINE I32x16 to_bits(F32x16 a) { return {_mm512_castps_si512(a.v)}; }
SARDONYX_INLINE F32x16 from_bits(I32x16 a) { return {_mm512_castsi512_ps(a.v)}; }
SARDONYX_INLINE I32x16 to_int(F32x16 a) { return {_mm512_cvtps_epi32(a.v)}; }
SARDONYX_INLINE F32x16 to_float(I32x16 a) { return {_mm512_cvtepi32_ps(a.v)}; }

SARDONYX_INLINE I32x16 load_widen(const uint8_t* p) {
  return {_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)))};
}
SARDONYX_INLINE I32x16 load_widen(const int8_t* p) {
  return {_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)))};
}
SARDONYX_INLINE I32x16 load_widen(const uint16_t* p) {
  return {_mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))};
}
/// The low byte or half word of every lane.
SARDONYX_INLINE void store_narrow(uint8_t* p, I32x16 a) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(a.v));
}
SARDONYX_INLINE void store_narrow(uint16_t* p, I32x16 a) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtepi32_epi16(a.v));
}

SARDONYX_INLINE F32x16 load_half(const uint16_t* p) {
  return {_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))};
}
SARDONYX_INLINE void store_half(uint16_t* p, F32x16 a) {
  const __m256i half = _mm512_cvtps_ph(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), half);
}

/// Every second element of a followed by b, from the first and from the second.
SARDONYX_INLINE void deinterleave(F32x16 a, F32x16 b, F32x16& even, F32x16& odd) {
  const __m512i first = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  even.v = _mm512_permutex2var_ps(a.v, first, b.v);
  odd.v = _mm512_permutex2var_ps(a.v, _mm512_or_si512(first, _mm512_set1_epi32(1)), b.v);
}

/// Rows become columns.
SARDONYX_INLINE void transpose(F32x16 (&r)[16]) {
  __m512 t[16];
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_ps(r[i].v, r[i + 1].v);
    t[i + 1] = _mm512_unpackhi_ps(r[i].v, r[i + 1].v);
  }
  __m512 u[16];  // u[4 g + c]: column c of each block of four, rows 4 g to 4 g + 3
#pragma GCC unroll 4
  for (int g = 0; g < 16; g += 4) {
    const __m512d a = _mm512_castps_pd(t[g]), b = _mm512_castps_pd(t[g + 1]);
    const __m512d c = _mm512_castps_pd(t[g + 2]), d = _mm512_castps_pd(t[g + 3]);
    u[g] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, c));
    u[g + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, c));
    u[g + 2] = _mm512_castpd_ps(_mm512_unpacklo_pd(b, d));
    u[g + 3] = _mm512_castpd_ps(_mm512_unpackhi_pd(b, d));
  }
#pragma GCC unroll 4
  for (int c = 0; c < 4; ++c) {  // columns c, c + 4, c + 8, c + 12 lie in the four blocks of u[c], u[4 + c], ...
    const __m512 low01 = _mm512_shuffle_f32x4(u[c], u[4 + c], 0x44), high01 = _mm512_shuffle_f32x4(u[c], u[4 + c], 0xee);
    const __m512 low23 = _mm512_shuffle_f32x4(u[8 + c], u[12 + c], 0x44), high23 = _mm512_shuffle_f32x4(u[8 + c], u[12 + c], 0xee);
    r[c].v = _mm512_shuffle_f32x4(low01, low23, 0x88);
    r[c + 4].v = _mm512_shuffle_f32x4(low01, low23, 0xdd);
    r[c + 8].v = _mm512_shuffle_f32x4(high01, high23, 0x88);
    r[c + 12].v = _mm512_shuffle_f32x4(high01, high23, 0xdd);
  }
}

// Lanes l and l + 8, then l + 4, l + 2, l + 1.
SARDONYX_INLINE float reduce_add(F32x16 a) {
  const __m256 f8 = _mm256_add_ps(_mm512_castps512_ps256(a.v), _mm512_extractf32x8_ps(a.v, 1));
  const __m128 f4 = _mm_add_ps(_mm256_castps256_ps128(f8), _mm256_extractf128_ps(f8, 1));
  const __m128 f2 = _mm_add_ps(f4, _mm_movehl_ps(f4, f4));
  return _mm_cvtss_f32(_mm_add_ss(f2, _mm_movehdup_ps(f2)));
}
SARDONYX_INLINE float reduce_max(F32x16 a) {
  const __m256 f8 = _mm256_max_ps(_mm512_castps512_ps256(a.v), _mm512_extractf32x8_ps(a.v, 1));
  const __m128 f4 = _mm_max_ps(_mm256_castps256_ps128(f8), _mm256_extractf128_ps(f8, 1));
  const __m128 f2 = _mm_max_ps(f4, _mm_movehl_ps(f4, f4));
  return _mm_cvtss_f32(_mm_max_ss(f2, _mm_movehdup_ps(f2)));
}
SARDONYX_INLINE float reduce_min(F32x16 a) {
  const __m256 f8 = _mm256_min_ps(_mm512_castps512_ps256(a.v), _mm512_extractf32x8_ps(a.v, 1));
  const __m128 f4 = _mm_min_ps(_mm256_castps256_ps128(f8), _mm256_extractf128_ps(f8, 1));
  const __m128 f2 = _mm_min_ps(f4, _mm_movehl_ps(f4, f4));
  return _mm_cvtss_f32(_mm_min_ss(f2, _mm_movehdup_ps(f2)));
}

}  // namespace sardonyx::kernels::SARDONYX_VARIANT
