#pragma once

#include <cstddef>
#include <cstdint>

#include "base/thread_pool.h"
#include "sardonyx/tensor.h"

namespace sardonyx::provider::cpu {

/// Zero points of one matrix: null means zero, otherwise one value (step 0) or one a row or column (step 1), of the matrix's type.
struct ZeroPoints {
  const void* data = nullptr;
  std::size_t step = 0;
};

/// An operand: int8 or uint8, row-major.
struct ByteMatrix {
  const void* data = nullptr;
  bool is_signed = false;
  ZeroPoints zero;
};

/// C [m, n] = (A - zero points of rows)(B - zero points of columns), exact modulo 2^32.
void integer_product(const Parallel& parallel, std::size_t m, std::size_t n, std::size_t k, const ByteMatrix& a, const ByteMatrix& b,
                     std::int32_t* c);

}  // namespace sardonyx::provider::cpu
