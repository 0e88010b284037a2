#pragma once

#include <cstddef>

#include "base/thread_pool.h"

namespace sardonyx::kernels {

/// 2-D pooling of `planes` = batch * channels planes. Pads must be smaller than the (dilated) kernel, or windows
/// without any input give -infinity (maximum) or 0 (average). out_height and out_width are the caller's (floor or ceil
/// mode).
struct PoolShape {
  std::size_t planes = 1;
  std::size_t in_height = 1, in_width = 1;
  std::size_t out_height = 1, out_width = 1;
  std::size_t kernel_height = 1, kernel_width = 1;
  std::size_t stride_y = 1, stride_x = 1;
  std::size_t dilation_y = 1, dilation_x = 1;
  std::size_t pad_top = 0, pad_left = 0;
  std::size_t pad_bottom = 0, pad_right = 0;  ///< only counted by an average that includes padding
};

/// Largest value of every window; NaN where it holds one.
void max_pool(const PoolShape& shape, const float* x, float* y, Parallel parallel = {});

/// Mean of every window: the sum by kernel row and column, divided by the number of taps inside the input, or, with
/// count_include_pad, inside the padded input.
void average_pool(const PoolShape& shape, bool count_include_pad, const float* x, float* y, Parallel parallel = {});

}  // namespace sardonyx::kernels
