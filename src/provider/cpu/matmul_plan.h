#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sardonyx/shape.h"

namespace sardonyx::provider::cpu {

/// A product of stacks of matrices by NumPy's matmul rules, for given shapes.
struct MatMulPlan {
  std::size_t m = 1, n = 1, k = 1;
  /// Matrices in the output, and where each one's operands begin, in elements. A stack of left matrices over one right
  /// matrix is one tall matrix.
  std::size_t batch = 1;
  std::vector<std::size_t> a_offsets, b_offsets;

  /// Shapes of rank 1 or more whose batch dimensions broadcast (inference has checked them).
  /// `transpose_a`, `transpose_b`: the last two dimensions are stored the other way round.
  static MatMulPlan make(Shape a, Shape b, bool transpose_a = false, bool transpose_b = false);
  std::size_t c_offset(std::size_t i) const { return i * m * n; }
};

}  // namespace sardonyx::provider::cpu
