#pragma once

#include <cstdint>
#include <vector>

#include "graph/attribute.h"
#include "graph/dim.h"

namespace sardonyx::ops {

/// The window attributes that convolutions and pools share: strides, dilations, pads, auto_pad, ceil_mode. One entry
/// per spatial axis (pads: begins, then ends).
struct WindowAttributes {
  enum class AutoPad : std::uint8_t { kNotSet, kSameUpper, kSameLower, kValid };

  AutoPad auto_pad = AutoPad::kNotSet;
  bool ceil_mode = false;
  std::vector<std::int64_t> strides, dilations, pads;

  /// Defaults filled in for `spatial_rank` axes. Lists of another length, strides or dilations below 1 and negative
  /// pads are Errors.
  static WindowAttributes parse(const graph::Attributes& attributes, std::size_t spatial_rank);

  /// Windows along an axis of `input` elements; an Error when the sizes are known and the kernel exceeds the padded
  /// input.
  graph::Dim output(std::size_t axis, const graph::Dim& input, const graph::Dim& kernel) const;
  /// Elements of padding before the input, for known sizes.
  std::int64_t pad_begin(std::size_t axis, std::int64_t input, std::int64_t kernel) const;
};

/// `kernel_shape`, checked against the spatial rank; empty when the attribute is missing.
std::vector<std::int64_t> kernel_shape(const graph::Attributes& attributes, std::size_t spatial_rank);

/// ConvTranspose: how the output size and the padding of one axis follow from each other.
struct TransposedWindow {
  WindowAttributes window;
  std::vector<std::int64_t> output_padding, output_shape;  ///< output_shape is empty when not given

  static TransposedWindow parse(const graph::Attributes& attributes, std::size_t spatial_rank);
  graph::Dim output(std::size_t axis, const graph::Dim& input, const graph::Dim& kernel) const;
  std::int64_t pad_begin(std::size_t axis, std::int64_t input, std::int64_t kernel) const;
};

}  // namespace sardonyx::ops
