#pragma once

#include <cstdint>
#include <vector>

#include "graph/value_type.h"
#include "sardonyx/value.h"

namespace sardonyx::runtime {

/// Gathers one tensor an iteration and stacks them along a new axis.
class Stacker {
 public:
  /// Throws kInvalidArgument when the shape or type differs from the first one's.
  void add(const Value& value);
  void reverse();
  /// The stack; where nothing was added, an empty tensor of the declared type, unknown dimensions 0. Axis may be negative.
  Tensor finish(const graph::ValueType& declared, std::int64_t axis) const;

 private:
  std::vector<Tensor> parts_;
};

/// A copy of tensor[..., index, ...] along `axis`, which is dropped.
Tensor slice_along(const TensorView& tensor, std::size_t axis, std::int64_t index);

}  // namespace sardonyx::runtime
