#pragma once

#include <cstdint>

#include "sardonyx/tensor.h"

#include "base/thread_pool.h"

namespace sardonyx::provider::cpu {

/// A copy of elements in nested loops over `shape`: what Transpose, Slice, Expand, Tile, Concat and their kind come
/// down to. Strides count elements and may be 0 (repeat) or negative; offsets are where the loops start. Each element
/// is written once.
struct StridedCopy {
  Shape shape;
  Shape in_strides, out_strides;
  std::int64_t in_offset = 0, out_offset = 0;
};

/// Strides of a dense row-major tensor.
Shape dense_strides(const Shape& shape);

/// Runs the copy on elements of `type`, which must not be a packed one. Neither memory may overlap the other.
void strided_copy(const StridedCopy& copy, ElementType type, const void* in, void* out, const Parallel& parallel);

/// Copies a whole dense tensor; nothing when both are the same memory. Packed types too.
void copy_elements(const TensorView& in, const TensorView& out, const Parallel& parallel);

}  // namespace sardonyx::provider::cpu
