#pragma once

#include <cstdint>
#include <vector>

#include "sardonyx/shape.h"

#include "ops/resize.h"

namespace sardonyx::provider::cpu {

/// How each output along one axis is made of inputs: `taps` inputs with weights, or (nearest) one input.
struct ResizeAxis {
  std::size_t axis = 0;
  std::int64_t in = 0, out = 0, taps = 1;
  std::vector<std::int64_t> indices;  ///< [out, taps], inside [0, in); nearest: [out]
  std::vector<double> weights;        ///< [out, taps]; empty for nearest
  std::vector<bool> outside;          ///< [out]: takes the extrapolation value; empty when none does
};

/// What Resize's optional inputs say: values per axis of ResizeAttributes::axes. Exactly one of scales and sizes is
/// set.
struct ResizeInputs {
  std::vector<double> roi;  ///< starts, then ends; may be empty
  std::vector<double> scales;
  std::vector<std::int64_t> sizes;
};

/// Everything about one Resize but its data: only axes that change anything are listed.
struct ResizePlan {
  std::vector<ResizeAxis> axes;

  /// An Error when the inputs have wrong lengths, or an axis without elements is to grow.
  static ResizePlan make(const ops::ResizeAttributes& attributes, const ResizeInputs& inputs, const Shape& x,
                         const Shape& y);
};

}  // namespace sardonyx::provider::cpu
