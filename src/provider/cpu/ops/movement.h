#pragma once

#include <cstdint>

#include "provider/cpu/kernel_list.h"

namespace sardonyx::provider::cpu {

/// What a slice takes of one axis: `length` elements from `start`, `step` apart.
struct AxisRange {
  std::int64_t start = 0, length = 0, step = 1;
};

/// ONNX's Slice on an axis of `size` elements: negative bounds count from the end, bounds beyond are clamped. Throws
/// for step 0.
AxisRange slice_range(std::int64_t size, std::int64_t start, std::int64_t end, std::int64_t step);

void add_pad_kernels(KernelTable& table);  ///< pad.cc: Pad, CenterCropPad

}  // namespace sardonyx::provider::cpu
