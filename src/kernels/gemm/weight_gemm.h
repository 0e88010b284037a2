#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/gemm/gemm.h"

namespace sardonyx::kernels {

// gemm() with 8-bit weights that stay 8-bit in memory: every panel is made floats, (w - zero point) * scale rounded, in
// the caches just before it is used. So the result has the bits of DequantizeLinear followed by gemm(), at a quarter of
// the memory read. (One column: a chain, not lanes.)

/// Where B [K, N] and its scales come from.
struct WeightSource {
  const void* data = nullptr;  ///< int8 or uint8, element (k, n) at k * k_stride + n * n_stride
  bool is_signed = true;
  std::ptrdiff_t k_stride = 0;
  std::ptrdiff_t n_stride = 1;
  std::size_t k = 0;
  std::size_t n = 0;
  std::size_t block_rows = 0;  ///< rows of K that share a scale; 0: all
  /// Scale and zero point (in the range of B's type; null: 0) of block b and column n at b * block_stride + n *
  /// column_stride.
  const float* scale = nullptr;
  const std::int32_t* zero_point = nullptr;
  std::ptrdiff_t block_stride = 0;
  std::ptrdiff_t column_stride = 0;
};

/// Packed for the active instruction set. Borrows its memory.
struct PackedWeights {
  const std::int8_t* data = nullptr;
  const float* scale = nullptr;
  const float* zero = nullptr;
  std::size_t k = 0;
  std::size_t n = 0;
  std::size_t block_rows = 0;
};

/// Name of the packing.
const char* packed_weights_format();

/// Bytes of the packed form of [K, N] in blocks of block_rows (0: one block), parameters included.
std::size_t packed_weights_size(std::size_t k, std::size_t n, std::size_t block_rows);

/// `out`: packed_weights_size bytes, 64-byte aligned.
PackedWeights pack_weights(const WeightSource& source, void* out, Parallel parallel = {});
/// The view of memory that pack_weights filled before.
PackedWeights view_packed_weights(const void* packed, std::size_t k, std::size_t n, std::size_t block_rows);

/// Floats of workspace (64-byte aligned) for M rows and up to `max_threads` threads.
std::size_t weight_gemm_workspace_size(std::size_t m, std::size_t k, int max_threads);

/// As gemm().
void weight_gemm(std::size_t m, GemmA a, const PackedWeights& b, float* c, std::size_t c_row_stride,
                 const GemmEpilogue& epilogue, float* workspace, Parallel parallel = {});

}  // namespace sardonyx::kernels
