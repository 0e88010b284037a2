#pragma once

#include <cstdint>

#include "provider/cpu/dispatch.h"
#include "provider/cpu/ops/axis_view.h"
#include "provider/kernel.h"

namespace sardonyx::provider::cpu {

/// AxisView in signed numbers, for kernels that step backwards.
struct AxisSplit {
  std::int64_t outer = 1, length = 1, inner = 1;
};

inline AxisSplit split_at_axis(const Shape& shape, std::int64_t axis) {
  const AxisView view = AxisView::around(shape, axis);
  return {static_cast<std::int64_t>(view.outer), static_cast<std::int64_t>(view.length),
          static_cast<std::int64_t>(view.inner)};
}

}  // namespace sardonyx::provider::cpu
