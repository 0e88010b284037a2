#pragma once

#include <cstdint>
#include <vector>

#include "graph/attribute.h"

namespace sardonyx::ops {

/// Resize's attributes.
struct ResizeAttributes {
  enum class Mode : std::uint8_t { kNearest, kLinear, kCubic };
  enum class Nearest : std::uint8_t { kRoundPreferFloor, kRoundPreferCeil, kFloor, kCeil };
  enum class Coordinates : std::uint8_t {
    kHalfPixel,
    kHalfPixelSymmetric,
    kPytorchHalfPixel,
    kAlignCorners,
    kAsymmetric,
    kTfCropAndResize
  };
  enum class Policy : std::uint8_t { kStretch, kNotLarger, kNotSmaller };

  Mode mode = Mode::kNearest;
  Nearest nearest = Nearest::kRoundPreferFloor;
  Coordinates coordinates = Coordinates::kHalfPixel;
  Policy policy = Policy::kStretch;
  bool antialias = false, exclude_outside = false;
  float cubic_a = -0.75f, extrapolation_value = 0;
  std::vector<std::size_t> axes;  ///< the axes that roi, scales and sizes speak of; all when the attribute is missing

  /// Errors: unknown mode names, axes outside the rank or repeated.
  static ResizeAttributes parse(const graph::Attributes& attributes, std::size_t rank);

  /// The scale of all axes under not_larger or not_smaller; an Error when an axis has no elements.
  double common_scale(const std::vector<std::int64_t>& in, const std::vector<std::int64_t>& sizes) const;
  /// size · scale to the nearest integer, halves up.
  static std::int64_t rounded(double scale, std::int64_t size);
};

}  // namespace sardonyx::ops
