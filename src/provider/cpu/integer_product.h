#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "kernels/gemm/integer_gemm.h"
#include "provider/kernel.h"

namespace sardonyx::provider::cpu {

/// A scale or zero point of one matrix in a stack: one value, or one a row (of A) or column (of B).
struct PerLine {
  std::size_t offset = 0;  ///< where this matrix's values begin
  std::size_t step = 0;
};

/// `lines`: rows of A, columns of B, or the like. `values` may be null (one value, the default). Throws kInvalidArgument naming
/// `what` where the number of values fits neither one nor `lines`.
PerLine per_line(const TensorView* values, std::size_t lines, std::size_t matrix, std::size_t matrices, const char* what);

/// Zero points of int8 or uint8 as the int32 that kernels take: one, or `lines` of them, into `out`.
kernels::IntegerParameter widen_zero_points(const TensorView* zero, PerLine line, std::size_t lines, std::int32_t* out);

/// A constant right-hand matrix of bytes, packed once.
struct PackedIntegerRight {
  std::size_t input = 1;
  std::size_t k = 0, n = 0;
  bool is_signed = false;

  /// One, where input `input` of the node is a constant that holds a single matrix or a vector of bytes.
  static std::optional<PackedIntegerRight> find(const graph::NodeDesc& node, std::size_t input);

  PackRequest request() const;
  kernels::PackedIntegerB view(const std::byte* packed) const { return kernels::view_packed_integer_b(packed, is_signed, k, n); }
};

}  // namespace sardonyx::provider::cpu
