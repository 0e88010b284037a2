#pragma once

#include <cstddef>

#include "base/thread_pool.h"

namespace sardonyx::kernels {

/// Normalisation of each of `rows` rows of n contiguous floats.
struct NormArguments {
  const float* x = nullptr;         ///< [rows, n]
  const float* residual = nullptr;  ///< [rows, n] added to x first, or null
  float* sum = nullptr;             ///< [rows, n] x + residual stored here, or null; may be x or residual
  const float* gamma = nullptr;     ///< [n], or null for 1
  const float* beta = nullptr;      ///< [n], or null for 0
  float epsilon = 1e-5f;
  float* y = nullptr;                ///< [rows, n]; may be x, residual or sum
  float* mean = nullptr;             ///< [rows], or null
  float* inverse_deviation = nullptr;  ///< [rows] 1 / sqrt(variance + epsilon), or null
  std::size_t rows = 0;
  std::size_t n = 0;
};

/// y = (x - mean) / sqrt(variance + epsilon) * gamma + beta, the variance about the mean in a second pass, sums by the lane rule
/// of reduce/reduce.h; gamma and beta by one fused multiply-add.
void layer_norm(const NormArguments& arguments, Parallel parallel = {});

/// y = x / sqrt(mean of squares + epsilon) * gamma + beta. `mean` is not written.
void rms_norm(const NormArguments& arguments, Parallel parallel = {});

}  // namespace sardonyx::kernels
