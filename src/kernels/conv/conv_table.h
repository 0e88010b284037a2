#pragma once

#include <stddef.h>

namespace sardonyx::kernels {

/// Output pixels of one output row that lie side by side in a panel.
struct PanelSegment {
  size_t first;  ///< column of the panel
  size_t count;  ///< columns
  ptrdiff_t y;   ///< input row of kernel tap 0; may lie outside
  ptrdiff_t x;   ///< input column of kernel tap 0 for the first pixel
};

/// The K x width matrix of input values that `width` output pixels see, k in the order of conv.h, zeros outside the
/// input.
struct Im2colPanel {
  const float* x;  ///< first channel of the group
  size_t channels, height, width;
  size_t kernel_height, kernel_width;
  ptrdiff_t dilation_y, dilation_x;
  ptrdiff_t stride_x;
  const PanelSegment* segments;
  size_t segment_count;
  size_t panel_width;  ///< 16 or 32
  float* out;
};

/// One input plane copied into rows with zero borders, each row split by x modulo stride_x into phases.
struct BorderedCopy {
  const float* x;  ///< in_rows x width
  size_t in_rows, width;
  size_t pad_left;
  size_t stride_x;
  size_t phase_width;  ///< floats of a phase of a row
  float* out;          ///< first row that holds input; borders are already zero
  size_t row_stride;   ///< floats from one row to the next
};

/// Depthwise convolution of one channel in such rows.
struct DepthwisePlane {
  const float* rows;  ///< input rows from -pad_top on
  size_t row_stride;
  const size_t* tap_offset;  ///< per kernel tap: where its values for output (0, 0) lie
  const float* weights;      ///< kernel_height * kernel_width
  float bias;                ///< added after the chain where has_bias
  bool has_bias;
  float low, high;  ///< what the sum is clamped to after it; infinities: not at all
  size_t kernel_height, kernel_width;
  size_t dilation_y, stride_y;
  size_t out_height, out_width;
  size_t out_stride;  ///< floats from one output row to the next
  float* y;
};

struct ConvTable {
  void (*im2col)(const Im2colPanel& panel);
  void (*copy_with_borders)(const BorderedCopy& copy);
  void (*depthwise)(const DepthwisePlane& plane);
};

}  // namespace sardonyx::kernels
