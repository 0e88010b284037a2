#include "ops/window.h"

#include <algorithm>
#include <limits>
#include <string>

#include "base/fail.h"

namespace sardonyx::ops {
namespace {

using graph::Dim;

/// Above this no product of two attribute values can overflow.
constexpr std::int64_t kMaxAttribute = std::numeric_limits<std::int32_t>::max();

std::vector<std::int64_t> list(const graph::Attributes& attributes, const char* name, std::size_t length,
                               std::int64_t fallback, std::int64_t least) {
  std::vector<std::int64_t> values = attributes.get_ints(name, std::vector<std::int64_t>(length, fallback));
  if (values.empty()) values.assign(length, fallback);
  if (values.size() != length) {
    fail(ErrorCode::kInvalidModel, "attribute '{}' must have {} elements for this input, found {}", name, length,
         values.size());
  }
  for (std::int64_t value : values) {
    if (value < least || value > kMaxAttribute) {
      fail(ErrorCode::kInvalidModel, "attribute '{}' has the element {}; it must be at least {}", name, value, least);
    }
  }
  return values;
}

WindowAttributes::AutoPad parse_auto_pad(const std::string& text) {
  using AutoPad = WindowAttributes::AutoPad;
  if (text.empty() || text == "NOTSET") return AutoPad::kNotSet;
  if (text == "SAME_UPPER") return AutoPad::kSameUpper;
  if (text == "SAME_LOWER") return AutoPad::kSameLower;
  if (text == "VALID") return AutoPad::kValid;
  fail(ErrorCode::kInvalidModel, "attribute 'auto_pad' must be NOTSET, SAME_UPPER, SAME_LOWER or VALID, found '{}'",
       text);
}

}  // namespace

WindowAttributes WindowAttributes::parse(const graph::Attributes& attributes, std::size_t spatial_rank) {
  WindowAttributes window;
  window.auto_pad = parse_auto_pad(attributes.get_string("auto_pad", "NOTSET"));
  window.ceil_mode = attributes.get_int("ceil_mode", 0) != 0;
  window.strides = list(attributes, "strides", spatial_rank, 1, 1);
  window.dilations = list(attributes, "dilations", spatial_rank, 1, 1);
  window.pads = list(attributes, "pads", spatial_rank * 2, 0, 0);
  if (window.auto_pad != AutoPad::kNotSet) window.pads.assign(spatial_rank * 2, 0);
  return window;
}

Dim WindowAttributes::output(std::size_t axis, const Dim& input, const Dim& kernel) const {
  const std::int64_t stride = strides[axis];
  if (auto_pad == AutoPad::kSameUpper || auto_pad == AutoPad::kSameLower) return ceil_div(input, stride);
  const std::int64_t begin = pads[axis], end = pads[strides.size() + axis];
  const Dim extent = (kernel - 1) * dilations[axis] + 1;
  const Dim room = input + begin + end - extent;
  if (room.is_constant() && input.is_constant() && room.constant() < -stride) {
    fail(ErrorCode::kInvalidModel,
         "a window of {} elements does not fit into spatial axis {} of {} elements with padding {} and {}",
         extent.to_string(), axis, input.constant(), begin, end);
  }
  if (!ceil_mode) return floor_div(room + stride, stride);
  // A window that would start in the padding behind the input is left out.
  return min(ceil_div(room + stride, stride), ceil_div(input + begin, stride));
}

std::int64_t WindowAttributes::pad_begin(std::size_t axis, std::int64_t input, std::int64_t kernel) const {
  if (auto_pad == AutoPad::kNotSet || auto_pad == AutoPad::kValid) return pads[axis];
  const std::int64_t stride = strides[axis];
  const std::int64_t outputs = (input + stride - 1) / stride;
  const std::int64_t extent = (kernel - 1) * dilations[axis] + 1;
  const std::int64_t total = std::max<std::int64_t>(0, (outputs - 1) * stride + extent - input);
  return auto_pad == AutoPad::kSameUpper ? total / 2 : total - total / 2;
}

std::vector<std::int64_t> kernel_shape(const graph::Attributes& attributes, std::size_t spatial_rank) {
  if (!attributes.has("kernel_shape")) return {};
  return list(attributes, "kernel_shape", spatial_rank, 1, 1);
}

TransposedWindow TransposedWindow::parse(const graph::Attributes& attributes, std::size_t spatial_rank) {
  TransposedWindow result;
  result.window = WindowAttributes::parse(attributes, spatial_rank);
  result.output_padding = list(attributes, "output_padding", spatial_rank, 0, 0);
  if (attributes.has("output_shape")) {
    std::vector<std::int64_t> shape = attributes.get_ints("output_shape", {});
    // Some exporters give the batch and channel dimensions too.
    if (shape.size() == spatial_rank + 2) shape.erase(shape.begin(), shape.begin() + 2);
    if (!shape.empty() && shape.size() != spatial_rank) {
      fail(ErrorCode::kInvalidModel, "attribute 'output_shape' must have {} elements for this input, found {}",
           spatial_rank, shape.size());
    }
    result.output_shape = shape;
  }
  return result;
}

Dim TransposedWindow::output(std::size_t axis, const Dim& input, const Dim& kernel) const {
  using AutoPad = WindowAttributes::AutoPad;
  if (!output_shape.empty()) return output_shape[axis];
  const std::int64_t stride = window.strides[axis];
  if (window.auto_pad == AutoPad::kSameUpper || window.auto_pad == AutoPad::kSameLower) return input * stride;
  const Dim extent = (kernel - 1) * window.dilations[axis] + 1;
  return (input - 1) * stride + output_padding[axis] + extent - window.pads[axis] -
         window.pads[window.strides.size() + axis];
}

std::int64_t TransposedWindow::pad_begin(std::size_t axis, std::int64_t input, std::int64_t kernel) const {
  using AutoPad = WindowAttributes::AutoPad;
  const bool same = window.auto_pad == AutoPad::kSameUpper || window.auto_pad == AutoPad::kSameLower;
  if (output_shape.empty() && !same) return window.pads[axis];
  const std::int64_t stride = window.strides[axis];
  const std::int64_t wanted = output_shape.empty() ? input * stride : output_shape[axis];
  const std::int64_t extent = (kernel - 1) * window.dilations[axis] + 1;
  const std::int64_t total = std::max<std::int64_t>(0, (input - 1) * stride + output_padding[axis] + extent - wanted);
  return window.auto_pad == AutoPad::kSameUpper ? total / 2 : total - total / 2;
}

}  // namespace sardonyx::ops
