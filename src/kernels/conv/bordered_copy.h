#pragma once

// For *.simd.cc files: rows copied with borders, split by x modulo the stride, so that what one tap of a window sees of
// a row of outputs is contiguous.

#include "kernels/conv/conv_table.h"
#include "kernels/simd/vec.h"

namespace sardonyx::kernels::SARDONYX_VARIANT {

SARDONYX_INLINE void copy_floats(float* out, const float* in, size_t n) {
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(out + i, load(in + i));
  if (i < n) store_partial(out + i, n - i, load_partial(in + i, n - i));
}
SARDONYX_INLINE void clear_floats(float* out, size_t n) {
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(out + i, zero());
  if (i < n) store_partial(out + i, n - i, zero());
}

/// out[i] = in[2 i]; reads nothing beyond in[2 n - 2].
SARDONYX_INLINE void copy_even_floats(float* out, const float* in, size_t n) {
  F32x16 even, odd;
  size_t i = 0;
  for (; i + kLanes < n; i += kLanes) {
    deinterleave(load(in + 2 * i), load(in + 2 * i + kLanes), even, odd);
    store(out + i, even);
  }
  if (i == n) return;
  const size_t left = 2 * (n - i) - 1;
  const F32x16 second = left > kLanes ? load_partial(in + 2 * i + kLanes, left - kLanes) : zero();
  deinterleave(load_partial(in + 2 * i, left), second, even, odd);
  store_partial(out + i, n - i, even);
}

SARDONYX_INLINE void copy_bordered(const BorderedCopy& p) {
  for (size_t row = 0; row < p.in_rows; ++row) {
    const float* in = p.x + row * p.width;
    float* out = p.out + row * p.row_stride;
    if (p.stride_x == 1) {
      const size_t room = p.phase_width - p.pad_left;
      copy_floats(out + p.pad_left, in, p.width < room ? p.width : room);
      continue;
    }
    if (p.stride_x == 2) {  // padded column c = x + pad_left goes to phase c mod 2
      const size_t even_at = p.pad_left / 2, odd_at = (p.pad_left + 1) / 2;
      const size_t evens = (p.width + 1) / 2, odds = p.width / 2;
      const size_t even_room = p.phase_width - even_at, odd_room = p.phase_width - odd_at;
      copy_even_floats(out + p.pad_left % 2 * p.phase_width + even_at, in, evens < even_room ? evens : even_room);
      if (odds > 0) {
        copy_even_floats(out + (p.pad_left + 1) % 2 * p.phase_width + odd_at, in + 1,
                         odds < odd_room ? odds : odd_room);
      }
      continue;
    }
    for (size_t x = 0; x < p.width; ++x) {
      const size_t column = x + p.pad_left;
      if (column / p.stride_x < p.phase_width) out[column % p.stride_x * p.phase_width + column / p.stride_x] = in[x];
    }
  }
}

}  // namespace sardonyx::kernels::SARDONYX_VARIANT
