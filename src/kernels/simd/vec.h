#pragma once

// The small vector type that every SIMD kernel is written in. A *.simd.cc file is compiled once per instruction set, with
// SARDONYX_VARIANT naming the namespace; it includes only this header, its neighbours in simd/ and plain structs.
//
// F32x16, I32x16 and M16 hold 16 lanes on every instruction set: one AVX-512 register, two of AVX2, four of SSE. So one lane
// structure, one order of rounding and one result everywhere:
//   load, load_partial, store, store_partial, set1, + - * /, fma, min, max, sqrt, round, floor, ceil, trunc, abs, comparisons,
//   select, integer arithmetic and shifts, conversions, transpose, deinterleave, reduce_add, reduce_min, reduce_max.
// fma(a, b, c) is a * b + c rounded once. min(a, b) is a < b ? a : b and max(a, b) is a > b ? a : b, so b where either is NaN.
// reduce_* fold lanes l+8, l+4, l+2, l+1. to_int rounds to nearest even and needs values that fit.

#include <stddef.h>
#include <stdint.h>

#ifndef SARDONYX_VARIANT
#error "compile *.simd.cc files by the rules of src/kernels/layer.cmake"
#endif

#define SARDONYX_INLINE static inline __attribute__((always_inline))

#if defined(__AVX512F__)
#include "kernels/simd/vec_avx512.h"
#elif defined(__AVX2__)
#include "kernels/simd/vec_avx2.h"
#else
#include "kernels/simd/vec_generic.h"
#endif

namespace sardonyx::kernels::SARDONYX_VARIANT {

inline constexpr size_t kLanes = 16;

SARDONYX_INLINE F32x16 load_partial(const float* p, size_t n, float fill) {
  return select(first_lanes(n), load_partial(p, n), set1(fill));
}
/// A whole vector, or the first `lanes` of one: the last of a row. load_some gives 0 in the others.
SARDONYX_INLINE F32x16 load_some(const float* p, size_t lanes) { return lanes == kLanes ? load(p) : load_partial(p, lanes); }
SARDONYX_INLINE void store_some(float* p, size_t lanes, F32x16 a) {
  if (lanes == kLanes) {
    store(p, a);
  } else {
    store_partial(p, lanes, a);
  }
}
SARDONYX_INLINE F32x16 operator-(F32x16 a) { return from_bits(to_bits(a) ^ set1_int(INT32_MIN)); }
SARDONYX_INLINE F32x16 abs(F32x16 a) { return from_bits(to_bits(a) & set1_int(INT32_MAX)); }
/// The magnitude of a with the sign of b.
SARDONYX_INLINE F32x16 copy_sign(F32x16 a, F32x16 b) {
  return from_bits((to_bits(a) & set1_int(INT32_MAX)) | (to_bits(b) & set1_int(INT32_MIN)));
}
SARDONYX_INLINE M16 is_nan(F32x16 a) { return unordered(a, a); }
/// As ONNX's Min and Max: NaN where either is NaN.
SARDONYX_INLINE F32x16 min_nan(F32x16 a, F32x16 b) { return select(is_nan(a), a, min(a, b)); }
SARDONYX_INLINE F32x16 max_nan(F32x16 a, F32x16 b) { return select(is_nan(a), a, max(a, b)); }
/// 2^n for n in [-126, 127].
SARDONYX_INLINE F32x16 power_of_two(I32x16 n) { return from_bits((n + set1_int(127)) << 23); }

}  // namespace sardonyx::kernels::SARDONYX_VARIANT
