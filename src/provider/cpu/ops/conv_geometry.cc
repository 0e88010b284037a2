#include "provider/cpu/ops/conv_geometry.h"

#include "base/fail.h"

namespace sardonyx::provider::cpu {

ConvGeometry ConvGeometry::sizes(const ops::WindowAttributes& window, const Shape& x, const Shape& y,
                                 const std::vector<std::int64_t>& kernel, std::int64_t groups) {
  ConvGeometry geometry;
  geometry.batch = x[0];
  geometry.groups = groups;
  geometry.in_channels = x[1] / groups;
  geometry.out_channels = y[1] / groups;
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    const SpatialAxis axis{x[i + 2], y[i + 2], kernel[i], window.strides[i], window.dilations[i], 0};
    geometry.axes.push_back(axis);
    geometry.in_size *= axis.in;
    geometry.out_size *= axis.out;
    constexpr std::int64_t kMostTaps = std::int64_t{1} << 24;  // more is nobody's model, and would run for hours
    if (__builtin_mul_overflow(geometry.taps, axis.kernel, &geometry.taps) || geometry.taps > kMostTaps) {
      fail(ErrorCode::kUnsupported, "a window of more than {} positions is not supported", kMostTaps);
    }
  }
  return geometry;
}

ConvGeometry ConvGeometry::make(const ops::WindowAttributes& window, const Shape& x, const Shape& y,
                                const std::vector<std::int64_t>& kernel, std::int64_t groups) {
  ConvGeometry geometry = sizes(window, x, y, kernel, groups);
  for (std::size_t i = 0; i < kernel.size(); ++i) geometry.axes[i].pad = window.pad_begin(i, x[i + 2], kernel[i]);
  return geometry;
}

ConvGeometry ConvGeometry::make(const ops::TransposedWindow& window, const Shape& x, const Shape& y,
                                const std::vector<std::int64_t>& kernel, std::int64_t groups) {
  ConvGeometry geometry = sizes(window.window, x, y, kernel, groups);
  for (std::size_t i = 0; i < kernel.size(); ++i) geometry.axes[i].pad = window.pad_begin(i, x[i + 2], kernel[i]);
  return geometry;
}

std::int64_t ConvGeometry::input_line(std::int64_t row, std::int64_t outer) const {
  std::int64_t offset = 0, stride = axes.back().in;
  for (std::size_t i = axes.size() - 1; i-- > 0;) {
    const SpatialAxis& axis = axes[i];
    const std::int64_t position = axis.position(row % axis.out, outer % axis.kernel);
    if (position < 0 || position >= axis.in) return -1;
    offset += position * stride;
    stride *= axis.in;
    row /= axis.out;
    outer /= axis.kernel;
  }
  return offset;
}

std::vector<std::int64_t> kernel_of(const Shape& weights) { return {weights.begin() + 2, weights.end()}; }

}  // namespace sardonyx::provider::cpu
