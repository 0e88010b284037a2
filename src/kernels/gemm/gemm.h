#pragma once

#include <cstddef>

#include "base/thread_pool.h"
#include "kernels/math/elementwise_table.h"

namespace sardonyx::kernels {

// C = epilogue(A B) in fp32: A is [M, K], B is [K, N], C is [M, N], row-major, with row strides in elements.
//
// Every element of C is one chain of fused multiply-adds over k ascending, from +0, whatever the sizes, the instruction
// set and the threads. Exception: a constant B of one column sums by lanes (element k to lane k mod 16, see
// reduce/reduce.h).

/// What follows the product, in this order, each step rounded: times `scale`, plus column bias, plus row bias, plus
/// residual, activation (or activation, plus residual).
struct GemmEpilogue {
  float scale = 1.0f;
  const float* bias = nullptr;      ///< [N], or null
  const float* row_bias = nullptr;  ///< [M], or null
  const float* residual = nullptr;  ///< [M, N], or null; may be C itself
  std::size_t residual_stride = 0;
  bool residual_after_activation = false;
  Unary activation = Unary::kIdentity;
  float alpha = 0.0f;  ///< the activation's parameters
  float beta = 0.0f;
};

/// The left-hand side. Element (m, k) is data[m * row_stride + k * k_stride]; for a transposed A row_stride is 1.
struct GemmA {
  const float* data;
  std::ptrdiff_t row_stride;
  std::ptrdiff_t k_stride = 1;
};

/// A right-hand side packed for the instruction set that was active when it was packed. Borrows its memory.
struct PackedB {
  const float* data = nullptr;  ///< packed_b_size(k, n) floats, 64-byte aligned
  std::size_t k = 0;
  std::size_t n = 0;
};

/// Name of the packing: what a stored copy depends on besides K and N.
const char* packed_b_format();

/// Floats that a packed [K, N] takes.
std::size_t packed_b_size(std::size_t k, std::size_t n);

/// Packs element (k, n) = b[k * k_stride + n * n_stride]: row-major B has k_stride = N and n_stride = 1, a transposed
/// one (weights stored as [N, K]) k_stride = 1 and n_stride = K. `out`: packed_b_size(k, n) floats, 64-byte aligned.
PackedB pack_b(const float* b, std::ptrdiff_t k_stride, std::ptrdiff_t n_stride, std::size_t k, std::size_t n,
               float* out, Parallel parallel = {});

/// Floats of workspace (64-byte aligned) that gemm() wants for M rows; may be 0. Never depends on the thread count.
std::size_t gemm_workspace_size(std::size_t m, std::size_t n, std::size_t k);

/// C [M, N] = epilogue(A B). C must not overlap A. K = 0 gives the epilogue of zeros.
void gemm(std::size_t m, GemmA a, const PackedB& b, float* c, std::size_t c_row_stride, const GemmEpilogue& epilogue,
          float* workspace, Parallel parallel = {});

/// The same for a B that is not constant: packs it first. B is addressed as in pack_b.
std::size_t gemm_unpacked_workspace_size(std::size_t m, std::size_t n, std::size_t k);
void gemm_unpacked(std::size_t m, std::size_t n, std::size_t k, GemmA a, const float* b, std::ptrdiff_t b_k_stride,
                   std::ptrdiff_t b_n_stride, float* c, std::size_t c_row_stride, const GemmEpilogue& epilogue,
                   float* workspace, Parallel parallel = {});

}  // namespace sardonyx::kernels
