#include "kernels/conv/conv_table.h"
#include "kernels/simd/vec.h"

namespace sardonyx::kernels::SARDONYX_VARIANT {
namespace {

constexpr size_t kChannelBlock = 16;  // of the order of summation

/// Columns [begin, end) of a segment lie inside the input row.
struct Inside {
  size_t begin, end;
};
SARDONYX_INLINE Inside inside_row(const PanelSegment& s, ptrdiff_t x, ptrdiff_t stride, ptrdiff_t width) {
  const ptrdiff_t begin = x >= 0 ? 0 : (-x + stride - 1) / stride;
  ptrdiff_t end = width - x <= 0 ? 0 : (width - x + stride - 1) / stride;
  const auto count = static_cast<ptrdiff_t>(s.count);
  if (end > count) end = count;
  if (begin >= end) return {0, 0};
  return {static_cast<size_t>(begin), static_cast<size_t>(end)};
}

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

/// One kernel tap of a block of channels.
SARDONYX_INLINE void copy_tap(const Im2colPanel& p, size_t channel, size_t channels, ptrdiff_t tap_y, ptrdiff_t tap_x, float* out) {
  const size_t plane = p.height * p.width;
  for (size_t i = 0; i < p.segment_count; ++i) {
    const PanelSegment& s = p.segments[i];
    const ptrdiff_t y = s.y + tap_y;
    const ptrdiff_t x = s.x + tap_x;
    Inside inside = inside_row(s, x, p.stride_x, static_cast<ptrdiff_t>(p.width));
    if (y < 0 || y >= static_cast<ptrdiff_t>(p.height)) inside = {0, 0};
    const bool all = inside.begin == 0 && inside.end == s.count;
    for (size_t c = 0; c < channels; ++c) {
      float* row = out + c * p.panel_width + s.first;
      if (!all) clear_floats(row, s.count);
      if (inside.begin == inside.end) continue;
      const float* in = p.x + (channel + c) * plane + static_cast<size_t>(y) * p.width;
      if (p.stride_x == 1) {
        copy_floats(row + inside.begin, in + x + static_cast<ptrdiff_t>(inside.begin), inside.end - inside.begin);
      } else {
        for (size_t j = inside.begin; j < inside.end; ++j) row[j] = in[x + static_cast<ptrdiff_t>(j) * p.stride_x];
      }
    }
  }
}

void im2col(const Im2colPanel& p) {
  const PanelSegment& last = p.segments[p.segment_count - 1];
  const size_t used = last.first + last.count;
  float* out = p.out;
  for (size_t channel = 0; channel < p.channels; channel += kChannelBlock) {
    const size_t channels = p.channels - channel < kChannelBlock ? p.channels - channel : kChannelBlock;
    for (size_t ky = 0; ky < p.kernel_height; ++ky) {
      for (size_t kx = 0; kx < p.kernel_width; ++kx) {
        copy_tap(p, channel, channels, static_cast<ptrdiff_t>(ky) * p.dilation_y, static_cast<ptrdiff_t>(kx) * p.dilation_x, out);
        if (used < p.panel_width) {
          for (size_t c = 0; c < channels; ++c) clear_floats(out + c * p.panel_width + used, p.panel_width - used);
        }
        out += channels * p.panel_width;
      }
    }
  }
}

/// kRows output rows of 16 columns: independent chains hide the latency of one.
template <int kRows>
SARDONYX_INLINE void depthwise_block(const DepthwisePlane& p, size_t y, size_t x) {
  F32x16 sum[kRows];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) sum[r] = zero();
  const size_t step = p.stride_y * p.row_stride;
  const float* weight = p.weights;
  for (size_t ky = 0; ky < p.kernel_height; ++ky) {
    const float* row = p.rows + (y * p.stride_y + ky * p.dilation_y) * p.row_stride + x;
    for (size_t kx = 0; kx < p.kernel_width; ++kx) {
      const F32x16 w = set1(*weight++);
      const float* in = row + p.tap_offset[kx];
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) sum[r] = fma(w, load(in + static_cast<size_t>(r) * step), sum[r]);
    }
  }
  const size_t lanes = p.out_width - x < kLanes ? p.out_width - x : kLanes;
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
    float* out = p.y + (y + static_cast<size_t>(r)) * p.out_width + x;
    if (lanes == kLanes) {
      store(out, sum[r]);
    } else {
      store_partial(out, lanes, sum[r]);
    }
  }
}

void depthwise(const DepthwisePlane& p) {
  size_t y = 0;
  for (; y + 4 <= p.out_height; y += 4) {
    for (size_t x = 0; x < p.out_width; x += kLanes) depthwise_block<4>(p, y, x);
  }
  for (; y < p.out_height; ++y) {
    for (size_t x = 0; x < p.out_width; x += kLanes) depthwise_block<1>(p, y, x);
  }
}

}  // namespace

extern const ConvTable kConvTable;
constexpr ConvTable kConvTable = {im2col, depthwise};

}  // namespace sardonyx::kernels::SARDONYX_VARIANT
