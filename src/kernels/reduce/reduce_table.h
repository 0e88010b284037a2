#pragma once

#include <stddef.h>
#include <stdint.h>

namespace sardonyx::kernels {

/// What a reduction computes, as the ONNX operators Reduce<name>.
enum class Reduction : uint8_t { kSum, kMean, kMax, kMin, kProd, kSumSquare, kL1, kL2, kLogSum, kLogSumExp, kCount };

/// Layer normalisation of one row; see norm/norm.h.
struct NormRow {
  const float* x;
  const float* residual;  ///< added to x first, or null
  float* sum;             ///< x + residual, or null
  const float* gamma;     ///< or null
  const float* beta;      ///< or null
  float* y;
  size_t n;
  float epsilon;
  float mean;     ///< out
  float inverse;  ///< out: 1 / sqrt(variance + epsilon)
};

struct ReduceTable {
  /// One row of n contiguous elements, by lanes.
  float (*row[static_cast<int>(Reduction::kCount)])(const float* x, size_t n);
  /// y[j] over x[i * stride + j], i < n, j < width: ascending chains.
  void (*columns[static_cast<int>(Reduction::kCount)])(const float* x, size_t n, size_t stride, size_t width, float* y);
  void (*softmax_row)(const float* x, float* y, size_t n);
  void (*log_softmax_row)(const float* x, float* y, size_t n);
  /// At most 64 columns.
  void (*softmax_columns)(const float* x, float* y, size_t n, size_t stride, size_t width);
  void (*log_softmax_columns)(const float* x, float* y, size_t n, size_t stride, size_t width);
  void (*layer_norm_row)(NormRow& row);
  void (*rms_norm_row)(NormRow& row);
};

}  // namespace sardonyx::kernels
