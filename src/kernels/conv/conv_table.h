#pragma once

#include <stddef.h>

namespace sardonyx::kernels {

/// Output pixels of one output row that lie side by side in a panel.
struct PanelSegment {
  size_t first;     ///< column of the panel
  size_t count;     ///< columns
  ptrdiff_t y;      ///< input row of kernel tap 0; may lie outside
  ptrdiff_t x;      ///< input column of kernel tap 0 for the first pixel
};

/// The K x width matrix of input values that `width` output pixels see, k in the order of conv.h, zeros outside the input.
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

/// Depthwise convolution of one channel whose input was copied into rows with borders, each split by x modulo stride_x.
struct DepthwisePlane {
  const float* rows;         ///< input rows from -pad_top on
  size_t row_stride;         ///< floats from one input row to the next
  const size_t* tap_offset;  ///< per kernel column: where its values for output column 0 lie in a row
  const float* weights;      ///< kernel_height * kernel_width
  size_t kernel_height, kernel_width;
  size_t dilation_y, stride_y;
  size_t out_height, out_width;
  float* y;                  ///< out_height x out_width
};

struct ConvTable {
  void (*im2col)(const Im2colPanel& panel);
  void (*depthwise)(const DepthwisePlane& plane);
};

}  // namespace sardonyx::kernels
