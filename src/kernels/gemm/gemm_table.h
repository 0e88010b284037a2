#pragma once

#include <stddef.h>

#include "kernels/math/elementwise_table.h"

namespace sardonyx::kernels {

/// One call of a micro-kernel: rows x columns of C over a block of K.
struct GemmTile {
  const float* a;
  ptrdiff_t a_row_stride;
  ptrdiff_t a_k_stride;
  const float* b;   ///< for every k, 16 or 32 columns
  size_t b_stride;  ///< floats from one k to the next: 16 or 32 in a packed panel
  size_t k;
  float* c;
  size_t c_row_stride;
  size_t columns;         ///< columns that exist; the panel's others are computed and dropped
  const char* prefetch;   ///< memory to prefetch, or null
  size_t prefetch_step;   ///< bytes of it per k, at most 128
  bool load_c;            ///< continue the chains that C holds, not from +0
  bool finish;            ///< last block of K: what follows applies
  float scale;            ///< times the chain, when not 1
  const float* bias;      ///< per column, or null
  const float* row_bias;  ///< per row, or null
  const float* residual;  ///< rows x columns, or null
  size_t residual_stride;
  bool residual_last;  ///< after the activation
  Activation activation;
};

using GemmTileFunction = void (*)(const GemmTile& tile);
/// One row of A times kGemmRowPanels full panels, each `panel_stride` floats behind the one before; the tile is of the
/// first.
using GemmRowFunction = void (*)(const GemmTile& tile, size_t panel_stride);

inline constexpr int kGemmRowPanels = 4;

inline constexpr int kGemmMaxRows = 14;

/// The fp32 micro-kernels of one instruction set.
struct GemmKernel {
  const char* name;
  int max_rows;       ///< rows of the largest tile
  int panel_vectors;  ///< a full panel has 16 times this many columns
  /// By rows - 1, vectors of 16 columns - 1, and how many cache lines are prefetched per k: 0, up to 1, 2. Null beyond
  /// the maxima.
  GemmTileFunction tile[kGemmMaxRows][2][3];
  /// For one row: a panel alone would wait for each multiply-add to end before the next.
  GemmRowFunction row;
  /// Sum of a[i] b[i] by the lane rule of reduce/reduce.h, with fused multiply-adds.
  float (*dot)(const float* a, const float* b, size_t n);
  /// A panel from columns that are contiguous along k: out[i * width + j] = b[j * n_stride + i], 0 for j >= columns.
  void (*pack_transposed)(const float* b, ptrdiff_t n_stride, size_t k, size_t columns, size_t width, float* out);
};

}  // namespace sardonyx::kernels
