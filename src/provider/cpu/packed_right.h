#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "kernels/gemm/gemm.h"
#include "provider/kernel.h"

namespace sardonyx::provider::cpu {

/// A constant right-hand matrix of a float32, float16 or bfloat16 product, packed once for the fp32 kernels.
struct PackedRight {
  std::size_t input = 1;
  std::size_t k = 0, n = 0;
  bool transposed = false;  ///< stored as [n, k]

  /// One, where input `input` of the node is a constant that holds a single matrix (or, untransposed, a vector).
  static std::optional<PackedRight> find(const graph::NodeDesc& node, std::size_t input, bool transposed);

  PackRequest request() const;
  kernels::PackedB view(const std::byte* packed) const { return {reinterpret_cast<const float*>(packed), k, n}; }
};

}  // namespace sardonyx::provider::cpu
