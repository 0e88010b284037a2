#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/math/elementwise_table.h"

namespace sardonyx::kernels {

/// What an integer product becomes.
enum class IntegerOutput : uint8_t { kInt32, kFloat, kUint8, kInt8 };

/// One call of an integer micro-kernel: rows x columns of C over all of K.
struct IntegerTile {
  const void* a;          ///< prepared rows: uint8 or int16, see IntegerGemmKernel::a_bytes
  size_t a_row_bytes;
  const int8_t* b;        ///< panel: for every k_step of k, 16 or 32 columns of k_step bytes
  size_t steps;           ///< ceil(k / k_step)
  size_t columns;         ///< columns that exist
  const int8_t* next_panel;  ///< prefetched, or null

  const int32_t* row_zero;      ///< per row: zero point of A
  const int32_t* row_sum;       ///< per row: sum of a - zero point
  const int32_t* column_sum;    ///< per column: sum of b
  const int32_t* column_zero;   ///< per column: zero point of B
  const int32_t* integer_bias;  ///< per column, or null

  IntegerOutput output;
  void* c;
  size_t c_row_stride;  ///< elements
  const float* row_scale;     ///< per row
  const float* column_scale;  ///< per column
  const float* bias;          ///< per column, or null
  const float* residual;      ///< or null
  size_t residual_stride;
  bool residual_last;
  UnaryFunction activation;
  float alpha;
  float beta;
  float zero_point;  ///< of an 8-bit output
};

using IntegerTileFunction = void (*)(const IntegerTile& tile);

inline constexpr int kIntegerMaxRows = 14;

/// The 8-bit micro-kernels of one instruction set.
struct IntegerGemmKernel {
  const char* name;
  int max_rows;
  int panel_vectors;
  int k_step;   ///< consecutive k that one instruction sums
  int a_bytes;  ///< 1: prepared A is uint8; 2: int16
  IntegerTileFunction tile[kIntegerMaxRows][2];
  /// One row of A, made uint8 by flipping with `flip` (0 or 0x80), padded with zeros to steps * k_step; returns its sum.
  int32_t (*prepare_row)(const uint8_t* a, size_t k, uint8_t flip, size_t padded, void* out);
};

}  // namespace sardonyx::kernels
