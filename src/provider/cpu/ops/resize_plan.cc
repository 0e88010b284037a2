#include "provider/cpu/ops/resize_plan.h"

#include <algorithm>
#include <cmath>

#include "base/fail.h"

namespace sardonyx::provider::cpu {
namespace {

using ops::ResizeAttributes;
using Coordinates = ResizeAttributes::Coordinates;

/// One axis as the coordinate modes see it.
struct AxisScale {
  std::int64_t in, out;
  double scale, length_resized;  ///< length_resized may be fractional when it comes from a scale
  double start, end;             ///< region of interest
};

/// Where in the input the output at `x` lies.
double original_position(Coordinates mode, const AxisScale& axis, double x) {
  const double in = static_cast<double>(axis.in);
  switch (mode) {
    case Coordinates::kHalfPixel: return (x + 0.5) / axis.scale - 0.5;
    case Coordinates::kHalfPixelSymmetric:
      return in / 2 * (1 - static_cast<double>(axis.out) / axis.length_resized) + (x + 0.5) / axis.scale - 0.5;
    case Coordinates::kPytorchHalfPixel: return axis.length_resized == 1 ? 0 : (x + 0.5) / axis.scale - 0.5;
    case Coordinates::kAlignCorners: return axis.length_resized == 1 ? 0 : x * (in - 1) / (axis.length_resized - 1);
    case Coordinates::kAsymmetric: return x / axis.scale;
    case Coordinates::kTfCropAndResize: {
      const double extent = (axis.end - axis.start) * (in - 1);
      return axis.start * (in - 1) + (axis.length_resized == 1 ? extent / 2 : x * extent / (axis.length_resized - 1));
    }
  }
  return x;
}

double nearest_position(ResizeAttributes::Nearest mode, double x) {
  switch (mode) {
    case ResizeAttributes::Nearest::kRoundPreferFloor: return std::ceil(x - 0.5);
    case ResizeAttributes::Nearest::kRoundPreferCeil: return std::floor(x + 0.5);
    case ResizeAttributes::Nearest::kFloor: return std::floor(x);
    case ResizeAttributes::Nearest::kCeil: return std::ceil(x);
  }
  return x;
}

/// Keys's cubic convolution kernel.
double cubic(double distance, double a) {
  const double x = std::abs(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

/// The first of the inputs around a position that the filter reaches; it reaches 2 - 2 · first of them.
std::int64_t first_tap(const ResizeAttributes& attributes, double scale) {
  const double support = attributes.mode == ResizeAttributes::Mode::kLinear ? 1 : 2;
  if (!attributes.antialias) return 1 - static_cast<std::int64_t>(support);
  return static_cast<std::int64_t>(std::floor(-support / std::min(scale, 1.0))) + 1;
}

void fill_weights(const ResizeAttributes& attributes, const AxisScale& axis, double position, std::int64_t output,
                  ResizeAxis& plan) {
  const double stretch = attributes.antialias ? std::min(axis.scale, 1.0) : 1;
  const double base = std::ceil(position) - 1, ratio = position - base;
  const std::int64_t first = first_tap(attributes, axis.scale);
  double* weights = plan.weights.data() + output * plan.taps;
  double total = 0;
  for (std::int64_t i = 0; i < plan.taps; ++i) {
    const double distance = (static_cast<double>(first + i) - ratio) * stretch;
    weights[i] = attributes.mode == ResizeAttributes::Mode::kLinear ? std::max(0.0, 1 - std::abs(distance))
                                                                    : cubic(distance, attributes.cubic_a);
    const double at = base + static_cast<double>(first + i);
    if (attributes.exclude_outside && (at < 0 || at >= static_cast<double>(axis.in))) weights[i] = 0;
    plan.indices[static_cast<std::size_t>(output * plan.taps + i)] =
        static_cast<std::int64_t>(std::clamp(at, 0.0, static_cast<double>(axis.in - 1)));
    total += weights[i];
  }
  const bool normalize = (attributes.antialias || attributes.exclude_outside) && total != 0;
  for (std::int64_t i = 0; normalize && i < plan.taps; ++i) weights[i] /= total;
}

ResizeAxis plan_axis(const ResizeAttributes& attributes, std::size_t index, const AxisScale& axis) {
  const bool nearest = attributes.mode == ResizeAttributes::Mode::kNearest;
  ResizeAxis plan;
  plan.axis = index;
  plan.in = axis.in;
  plan.out = axis.out;
  if (!nearest) plan.taps = 2 - 2 * first_tap(attributes, axis.scale);
  plan.indices.resize(static_cast<std::size_t>(axis.out * plan.taps));
  if (!nearest) plan.weights.resize(plan.indices.size());
  const bool crop = attributes.coordinates == Coordinates::kTfCropAndResize;
  if (crop) plan.outside.resize(static_cast<std::size_t>(axis.out));
  const double last = static_cast<double>(axis.in - 1);
  for (std::int64_t i = 0; i < axis.out; ++i) {
    const double position = original_position(attributes.coordinates, axis, static_cast<double>(i));
    if (!std::isfinite(position))
      fail(ErrorCode::kInvalidArgument, "Resize finds no place for output {} of axis {}", i, index);
    if (crop) plan.outside[static_cast<std::size_t>(i)] = position < 0 || position > last;
    if (nearest) {
      const double at = std::clamp(nearest_position(attributes.nearest, position), 0.0, last);
      plan.indices[static_cast<std::size_t>(i)] = static_cast<std::int64_t>(at);
    } else {
      fill_weights(attributes, axis, position, i, plan);
    }
  }
  return plan;
}

/// The scale of each axis in ResizeAttributes::axes.
std::vector<double> axis_scales(const ResizeAttributes& attributes, const ResizeInputs& inputs, const Shape& x) {
  if (!inputs.scales.empty()) return inputs.scales;
  std::vector<std::int64_t> in;
  for (std::size_t axis : attributes.axes) in.push_back(x[axis]);
  if (attributes.policy != ResizeAttributes::Policy::kStretch) {
    return std::vector<double>(in.size(), attributes.common_scale(in, inputs.sizes));
  }
  std::vector<double> scales;
  for (std::size_t i = 0; i < in.size(); ++i)
    scales.push_back(static_cast<double>(inputs.sizes[i]) / static_cast<double>(in[i]));
  return scales;
}

}  // namespace

ResizePlan ResizePlan::make(const ResizeAttributes& attributes, const ResizeInputs& inputs, const Shape& x,
                            const Shape& y) {
  const std::size_t count = attributes.axes.size();
  if (inputs.scales.size() + inputs.sizes.size() != count || (!inputs.roi.empty() && inputs.roi.size() != 2 * count)) {
    fail(ErrorCode::kInvalidArgument,
         "Resize of {} axes takes as many scales or sizes, and a roi of twice as many; found {}, {} and {}", count,
         inputs.scales.size(), inputs.sizes.size(), inputs.roi.size());
  }
  const bool crop = attributes.coordinates == Coordinates::kTfCropAndResize;
  if (crop && inputs.roi.empty())
    fail(ErrorCode::kInvalidArgument, "Resize with tf_crop_and_resize needs its input 'roi'");
  ResizePlan plan;
  if (y.num_elements() == 0) return plan;
  const std::vector<double> scales = axis_scales(attributes, inputs, x);
  const bool exact = inputs.scales.empty() && attributes.policy == ResizeAttributes::Policy::kStretch;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t axis = attributes.axes[i];
    if (x[axis] == 0)
      fail(ErrorCode::kInvalidArgument, "Resize can't make {} elements of none along axis {}", y[axis], axis);
    AxisScale described{x[axis],   y[axis],
                        scales[i], exact ? static_cast<double>(y[axis]) : scales[i] * static_cast<double>(x[axis]),
                        0,         1};
    if (crop) {
      described.start = inputs.roi[i];
      described.end = inputs.roi[count + i];
    }
    if (described.in == described.out && described.scale == 1 && described.start == 0 && described.end == 1) continue;
    plan.axes.push_back(plan_axis(attributes, axis, described));
  }
  return plan;
}

}  // namespace sardonyx::provider::cpu
