#pragma once

#include <cstddef>
#include <cstdint>

#include "base/thread_pool.h"

namespace sardonyx::kernels {

/// y = x with axes permuted, as ONNX's Transpose: axis i of y is axis permutation[i] of x.
///
/// x has `rank` dimensions `dims` of elements of `element_size` bytes: 1, 2, 4, 8 or 16 (others are copied byte by byte).
/// `permutation` must hold every axis once. y must not overlap x.
void transpose(const void* x, const std::int64_t* dims, const int* permutation, std::size_t rank, std::size_t element_size, void* y,
               Parallel parallel = {});

}  // namespace sardonyx::kernels
