#include "provider/cpu/ops/right_matrix.h"

#include <algorithm>

namespace sardonyx::provider::cpu {
namespace {

constexpr std::size_t kAlignment = 16;  ///< elements; 64 bytes of float
std::size_t rounded(std::size_t n) { return (n + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

template <>
std::size_t RightMatrix<float>::elements(std::size_t k, std::size_t n) {
  return rounded(kernels::packed_b_size(k, n));
}

template <>
std::size_t RightMatrix<double>::elements(std::size_t k, std::size_t n) {
  return rounded(k * n);
}

template <>
RightMatrix<float> RightMatrix<float>::prepare(const float* weights, std::size_t k, std::size_t n, float* memory,
                                               Parallel parallel) {
  kernels::pack_b(weights, 1, static_cast<std::ptrdiff_t>(k), k, n, memory, parallel);
  return {memory, k, n};
}

template <>
RightMatrix<double> RightMatrix<double>::prepare(const double* weights, std::size_t k, std::size_t n, double* memory,
                                                 Parallel) {
  for (std::size_t row = 0; row < n; ++row) {
    for (std::size_t i = 0; i < k; ++i) memory[i * n + row] = weights[row * k + i];
  }
  return {memory, k, n};
}

template <>
std::size_t RightMatrix<float>::workspace_elements(std::size_t rows, std::size_t k, std::size_t n) {
  return rounded(kernels::gemm_workspace_size(rows, n, k));
}

template <>
std::size_t RightMatrix<double>::workspace_elements(std::size_t, std::size_t, std::size_t) {
  return 0;
}

template <>
void RightMatrix<float>::multiply(std::size_t rows, const float* a, std::size_t a_stride, float* c,
                                  std::size_t c_stride, const float* bias, bool accumulate, float* workspace,
                                  Parallel parallel) const {
  kernels::GemmEpilogue epilogue;
  epilogue.bias = bias;
  if (accumulate) {
    epilogue.residual = c;
    epilogue.residual_stride = c_stride;
  }
  kernels::gemm(rows, {a, static_cast<std::ptrdiff_t>(a_stride)}, {data, k, n}, c, c_stride, epilogue, workspace,
                parallel);
}

template <>
void RightMatrix<double>::multiply(std::size_t rows, const double* a, std::size_t a_stride, double* c,
                                   std::size_t c_stride, const double* bias, bool accumulate, double*, Parallel) const {
  constexpr std::size_t kColumns = 64;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t first = 0; first < n; first += kColumns) {
      const std::size_t count = std::min(kColumns, n - first);
      double sums[kColumns] = {};
      for (std::size_t i = 0; i < k; ++i) {
        const double factor = a[row * a_stride + i];
        for (std::size_t j = 0; j < count; ++j) sums[j] += factor * data[i * n + first + j];
      }
      double* out = c + row * c_stride + first;
      for (std::size_t j = 0; j < count; ++j)
        out[j] = sums[j] + (bias ? bias[first + j] : 0) + (accumulate ? out[j] : 0);
    }
  }
}

}  // namespace sardonyx::provider::cpu
