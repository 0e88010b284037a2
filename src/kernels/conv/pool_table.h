#pragma once

#include <stddef.h>

namespace sardonyx::kernels {

/// Maximum pooling of one plane.
struct MaxPoolPlane {
  const float* x;
  size_t in_height, in_width, out_height, out_width;
  size_t kernel_height, kernel_width, stride_y, stride_x, dilation_y, pad_top, pad_left;
  const size_t* tap_offset;  ///< per kernel column: where its values for output column 0 lie in `line`
  float* y;
  float* tall;         ///< workspace of in_width floats
  float* line;         ///< workspace of stride_x * phase_width floats
  size_t phase_width;  ///< room for a row with its borders, split by x modulo stride_x, and a whole last vector
};

struct PoolTable {
  void (*max_pool)(const MaxPoolPlane& plane);
};

}  // namespace sardonyx::kernels
