#pragma once

#include <algorithm>
#include <cstddef>

#include "sardonyx/shape.h"

#include "base/fail.h"

namespace sardonyx::provider::cpu {

/// A tensor seen as [outer, length, inner] around one axis, or around the axes [axis, rank).
struct AxisView {
  std::size_t outer = 1, length = 1, inner = 1;

  /// `axis` may be negative; an axis outside the shape is an Error.
  static AxisView around(const Shape& shape, std::int64_t axis) {
    const std::size_t at = normalize(axis, shape.rank());
    return {static_cast<std::size_t>(shape.product(0, at)), static_cast<std::size_t>(shape[at]),
            static_cast<std::size_t>(shape.product(at + 1, shape.rank()))};
  }
  /// Everything from `axis` on as the length.
  static AxisView from(const Shape& shape, std::int64_t axis) {
    const std::size_t at = normalize(axis, shape.rank());
    return {static_cast<std::size_t>(shape.product(0, at)), static_cast<std::size_t>(shape.product(at, shape.rank())),
            1};
  }
  static std::size_t normalize(std::int64_t axis, std::size_t rank) {
    const auto n = static_cast<std::int64_t>(rank);
    if (axis < -n || axis >= n) fail(ErrorCode::kInvalidModel, "axis {} is outside a tensor of rank {}", axis, rank);
    return static_cast<std::size_t>(axis < 0 ? axis + n : axis);
  }
};

/// How many items of `cost` elements each a parallel loop takes at once; independent of the thread count.
inline std::size_t chunk_of(std::size_t cost, std::size_t work = 16384) {
  return std::max<std::size_t>(1, work / std::max<std::size_t>(1, cost));
}

}  // namespace sardonyx::provider::cpu
