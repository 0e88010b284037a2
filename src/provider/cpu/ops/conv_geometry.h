#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sardonyx/shape.h"

#include "ops/window.h"

namespace sardonyx::provider::cpu {

/// How windows lie along one spatial axis.
struct SpatialAxis {
  std::int64_t in = 1, out = 1, kernel = 1, stride = 1, dilation = 1, pad = 0;  ///< pad: before the input

  /// Where tap `tap` of window `window` reads; outside [0, in) is padding.
  std::int64_t position(std::int64_t window, std::int64_t tap) const { return window * stride - pad + tap * dilation; }

  /// Of the windows first … first + count - 1: those whose tap reads inside the input are first + [low, high).
  struct Range {
    std::int64_t low, high;
  };
  Range inside(std::int64_t first, std::int64_t count, std::int64_t tap) const {
    const std::int64_t base = position(first, tap);
    const std::int64_t low = base >= 0 ? 0 : std::min(count, (-base + stride - 1) / stride);
    const std::int64_t high = base >= in ? low : std::min(count, (in - 1 - base) / stride + 1);
    return {low, std::max(low, high)};
  }
};

/// Every size of one convolution or pooling, made once per set of shapes. Sizes of groups refer to one group.
struct ConvGeometry {
  std::int64_t batch = 1, groups = 1;
  std::int64_t in_channels = 1, out_channels = 1;    ///< per group
  std::vector<SpatialAxis> axes;                     ///< outermost first, at least one
  std::int64_t in_size = 1, out_size = 1, taps = 1;  ///< products over the axes

  /// The offset in one channel of the input line that window row `row` reads at tap `outer` (both counted over all axes
  /// but the last), or -1 in padding.
  std::int64_t input_line(std::int64_t row, std::int64_t outer) const;

  /// Data [N, C, …], output [N, M, …], kernel sizes per spatial axis.
  static ConvGeometry make(const ops::WindowAttributes& window, const Shape& x, const Shape& y,
                           const std::vector<std::int64_t>& kernel, std::int64_t groups);
  /// The same for ConvTranspose: `in` and `out` are the data's and the output's sizes; pad is cut from the output.
  static ConvGeometry make(const ops::TransposedWindow& window, const Shape& x, const Shape& y,
                           const std::vector<std::int64_t>& kernel, std::int64_t groups);

 private:
  static ConvGeometry sizes(const ops::WindowAttributes& window, const Shape& x, const Shape& y,
                            const std::vector<std::int64_t>& kernel, std::int64_t groups);
};

/// The spatial dimensions of weights [M, C, kernel…].
std::vector<std::int64_t> kernel_of(const Shape& weights);

}  // namespace sardonyx::provider::cpu
