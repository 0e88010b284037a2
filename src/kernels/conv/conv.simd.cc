#include "kernels/conv/bordered_copy.h"
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

/// One kernel tap of a block of channels.
SARDONYX_INLINE void copy_tap(const Im2colPanel& p, size_t channel, size_t channels, ptrdiff_t tap_y, ptrdiff_t tap_x,
                              float* out) {
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
      } else if (p.stride_x == 2) {
        copy_even_floats(row + inside.begin, in + x + 2 * static_cast<ptrdiff_t>(inside.begin),
                         inside.end - inside.begin);
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
        copy_tap(p, channel, channels, static_cast<ptrdiff_t>(ky) * p.dilation_y,
                 static_cast<ptrdiff_t>(kx) * p.dilation_x, out);
        if (used < p.panel_width) {
          for (size_t c = 0; c < channels; ++c) clear_floats(out + c * p.panel_width + used, p.panel_width - used);
        }
        out += channels * p.panel_width;
      }
    }
  }
}

void copy_with_borders(const BorderedCopy& p) { copy_bordered(p); }

SARDONYX_INLINE void write_pixels(const DepthwisePlane& p, size_t y, size_t x, F32x16 sum) {
  if (p.has_bias) sum = sum + set1(p.bias);
  sum = min(set1(p.high), max(set1(p.low), sum));
  const size_t lanes = p.out_width - x < kLanes ? p.out_width - x : kLanes;
  float* out = p.y + y * p.out_stride + x;
  if (lanes == kLanes) {
    store(out, sum);
  } else {
    store_partial(out, lanes, sum);
  }
}

/// Any kernel: kVectors times 16 pixels of one output row.
template <int kVectors>
SARDONYX_INLINE void depthwise_row(const DepthwisePlane& p, size_t y, size_t x) {
  F32x16 sum[kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) sum[v] = zero();
  const float* in = p.rows + y * p.stride_y * p.row_stride + x;
  for (size_t tap = 0; tap < p.kernel_height * p.kernel_width; ++tap) {
    const F32x16 w = set1(p.weights[tap]);
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sum[v] = fma(w, load(in + p.tap_offset[tap] + v * kLanes), sum[v]);
  }
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) write_pixels(p, y, x + v * kLanes, sum[v]);
}

#if defined(__AVX2__)  // emulated multiply-adds, unrolled, would only take long to compile
/// A square kernel without dilation: kRows output rows of 16 pixels. Every input vector is loaded once for all the
/// output rows that it belongs to; each of these meets its taps in order.
template <int kKernel, int kStride, int kRows>
SARDONYX_INLINE void depthwise_block(const DepthwisePlane& p, size_t y, size_t x) {
  F32x16 sum[kRows];
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) sum[r] = zero();
  const float* row = p.rows + y * kStride * p.row_stride + x;
#pragma GCC unroll 16
  for (int i = 0; i < (kRows - 1) * kStride + kKernel; ++i, row += p.row_stride) {
#pragma GCC unroll 5
    for (int kx = 0; kx < kKernel; ++kx) {
      const F32x16 value = load(row + p.tap_offset[kx]);
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        const int ky = i - r * kStride;
        if (ky >= 0 && ky < kKernel) sum[r] = fma(set1(p.weights[ky * kKernel + kx]), value, sum[r]);
      }
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) write_pixels(p, y + static_cast<size_t>(r), x, sum[r]);
}

template <int kKernel, int kStride>
void depthwise_square(const DepthwisePlane& p) {
  size_t y = 0;
  for (; y + 4 <= p.out_height; y += 4) {
    for (size_t x = 0; x < p.out_width; x += kLanes) depthwise_block<kKernel, kStride, 4>(p, y, x);
  }
  for (; y < p.out_height; ++y) {
    for (size_t x = 0; x < p.out_width; x += kLanes) depthwise_block<kKernel, kStride, 1>(p, y, x);
  }
}
#endif

void depthwise(const DepthwisePlane& p) {
#if defined(__AVX2__)
  if (p.kernel_height == p.kernel_width && p.dilation_y == 1 && p.out_height > 1) {
    if (p.kernel_height == 3 && p.stride_y == 1) return depthwise_square<3, 1>(p);
    if (p.kernel_height == 3 && p.stride_y == 2) return depthwise_square<3, 2>(p);
    if (p.kernel_height == 5 && p.stride_y == 1) return depthwise_square<5, 1>(p);
    if (p.kernel_height == 5 && p.stride_y == 2) return depthwise_square<5, 2>(p);
  }
#endif
  for (size_t y = 0; y < p.out_height; ++y) {
    size_t x = 0;
    for (; x + 4 * kLanes <= p.out_width; x += 4 * kLanes) depthwise_row<4>(p, y, x);
    for (; x < p.out_width; x += kLanes) depthwise_row<1>(p, y, x);
  }
}

}  // namespace

extern const ConvTable kConvTable;
constexpr ConvTable kConvTable = {im2col, copy_with_borders, depthwise};

}  // namespace sardonyx::kernels::SARDONYX_VARIANT
