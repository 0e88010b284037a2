#include "ops/resize.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <string_view>

#include "base/fail.h"

namespace sardonyx::ops {
namespace {

template <typename Enum>
struct Choice {
  std::string_view name;
  Enum value;
};

template <typename Enum, std::size_t count>
Enum choose(const graph::Attributes& attributes, const char* attribute, const Choice<Enum> (&choices)[count]) {
  const std::string text = attributes.get_string(attribute, choices[0].name);
  std::string names;
  for (const auto& choice : choices) {
    if (text == choice.name) return choice.value;
    names += (names.empty() ? "" : ", ") + std::string(choice.name);
  }
  fail(ErrorCode::kInvalidModel, "attribute '{}' of Resize must be one of {}; found '{}'", attribute, names, text);
}

// The default comes first.
constexpr Choice<ResizeAttributes::Mode> kModes[] = {{"nearest", ResizeAttributes::Mode::kNearest},
                                                     {"linear", ResizeAttributes::Mode::kLinear},
                                                     {"cubic", ResizeAttributes::Mode::kCubic}};
constexpr Choice<ResizeAttributes::Nearest> kNearest[] = {
    {"round_prefer_floor", ResizeAttributes::Nearest::kRoundPreferFloor},
    {"round_prefer_ceil", ResizeAttributes::Nearest::kRoundPreferCeil},
    {"floor", ResizeAttributes::Nearest::kFloor},
    {"ceil", ResizeAttributes::Nearest::kCeil}};
constexpr Choice<ResizeAttributes::Coordinates> kCoordinates[] = {
    {"half_pixel", ResizeAttributes::Coordinates::kHalfPixel},
    {"half_pixel_symmetric", ResizeAttributes::Coordinates::kHalfPixelSymmetric},
    {"pytorch_half_pixel", ResizeAttributes::Coordinates::kPytorchHalfPixel},
    {"align_corners", ResizeAttributes::Coordinates::kAlignCorners},
    {"asymmetric", ResizeAttributes::Coordinates::kAsymmetric},
    {"tf_crop_and_resize", ResizeAttributes::Coordinates::kTfCropAndResize}};
constexpr Choice<ResizeAttributes::Policy> kPolicies[] = {{"stretch", ResizeAttributes::Policy::kStretch},
                                                          {"not_larger", ResizeAttributes::Policy::kNotLarger},
                                                          {"not_smaller", ResizeAttributes::Policy::kNotSmaller}};

std::vector<std::size_t> parse_axes(const graph::Attributes& attributes, std::size_t rank) {
  std::vector<std::size_t> axes;
  const auto* given = attributes.ints("axes");
  if (!given) {
    for (std::size_t i = 0; i < rank; ++i) axes.push_back(i);
    return axes;
  }
  const auto n = static_cast<std::int64_t>(rank);
  for (std::int64_t axis : *given) {
    if (axis < -n || axis >= n) fail(ErrorCode::kInvalidModel, "axis {} is outside a tensor of rank {}", axis, rank);
    const auto normalized = static_cast<std::size_t>(axis < 0 ? axis + n : axis);
    if (std::find(axes.begin(), axes.end(), normalized) != axes.end())
      fail(ErrorCode::kInvalidModel, "attribute 'axes' of Resize repeats axis {}", axis);
    axes.push_back(normalized);
  }
  return axes;
}

}  // namespace

ResizeAttributes ResizeAttributes::parse(const graph::Attributes& attributes, std::size_t rank) {
  ResizeAttributes result;
  result.mode = choose(attributes, "mode", kModes);
  result.nearest = choose(attributes, "nearest_mode", kNearest);
  result.coordinates = choose(attributes, "coordinate_transformation_mode", kCoordinates);
  result.policy = choose(attributes, "keep_aspect_ratio_policy", kPolicies);
  result.antialias = attributes.get_int("antialias", 0) != 0;
  result.exclude_outside = attributes.get_int("exclude_outside", 0) != 0;
  result.cubic_a = attributes.get_float("cubic_coeff_a", -0.75f);
  result.extrapolation_value = attributes.get_float("extrapolation_value", 0);
  result.axes = parse_axes(attributes, rank);
  return result;
}

double ResizeAttributes::common_scale(const std::vector<std::int64_t>& in,
                                      const std::vector<std::int64_t>& sizes) const {
  double scale = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (in[i] <= 0) fail(ErrorCode::kInvalidArgument, "Resize can't keep the aspect ratio of an axis without elements");
    const double own = static_cast<double>(sizes[i]) / static_cast<double>(in[i]);
    scale = i == 0 ? own : policy == Policy::kNotLarger ? std::min(scale, own) : std::max(scale, own);
  }
  return scale;
}

std::int64_t ResizeAttributes::rounded(double scale, std::int64_t size) {
  const double product = std::floor(scale * static_cast<double>(size) + 0.5);
  if (!(std::abs(product) < 9e18)) fail(ErrorCode::kInvalidArgument, "a size of {} * {} is out of range", size, scale);
  return static_cast<std::int64_t>(product);
}

}  // namespace sardonyx::ops
