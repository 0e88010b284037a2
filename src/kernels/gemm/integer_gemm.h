#pragma once

#include <cstddef>
#include <cstdint>

#include "base/thread_pool.h"
#include "kernels/gemm/integer_gemm_table.h"

namespace sardonyx::kernels {

// C = (A - za)(B - zb) on 8-bit integers with 32-bit sums that wrap around like int32: exact, so the same on every instruction
// set. A is [M, K], B [K, N], row-major.

/// A constant right-hand side packed for the active instruction set. Borrows its memory.
struct PackedIntegerB {
  const std::int8_t* data = nullptr;        ///< panels
  const std::int32_t* column_sum = nullptr;  ///< [N] padded to 16, of the values as stored (int8)
  std::size_t k = 0;
  std::size_t n = 0;
  bool is_signed = true;  ///< element type of the original
};

/// Name of the packing: what a stored copy depends on besides K and N.
const char* packed_integer_b_format();

/// Bytes that a packed [K, N] takes, sums included.
std::size_t packed_integer_b_size(std::size_t k, std::size_t n);

/// Packs element (k, n) = b[k * k_stride + n * n_stride], int8 or uint8. `out`: 64-byte aligned.
PackedIntegerB pack_integer_b(const void* b, bool is_signed, std::ptrdiff_t k_stride, std::ptrdiff_t n_stride, std::size_t k,
                              std::size_t n, void* out, Parallel parallel = {});

/// The view of memory that pack_integer_b filled before.
PackedIntegerB view_packed_integer_b(const void* packed, bool is_signed, std::size_t k, std::size_t n);

/// A per-row or per-column parameter: values[i * step], step 0 repeats one value. Null: 0 (zero points) or 1 (scales).
struct IntegerParameter {
  const std::int32_t* values = nullptr;
  std::size_t step = 0;
};
struct FloatParameter {
  const float* values = nullptr;
  std::size_t step = 0;
};

/// The left-hand side and its zero points (in the range of its element type).
struct IntegerA {
  const void* data = nullptr;  ///< uint8 or int8
  bool is_signed = false;
  std::size_t row_stride = 0;
  IntegerParameter zero_point = {};  ///< by row
};

/// What becomes of the exact 32-bit sum s (integer_bias already added):
/// kInt32: s. kFloat: float(s) * (row_scale * column_scale), plus bias, plus residual, activation (or activation, plus
/// residual), each step rounded. kUint8, kInt8: float(s) * (row_scale * column_scale) rounded to nearest even, plus zero_point,
/// saturated.
struct IntegerEpilogue {
  const std::int32_t* integer_bias = nullptr;  ///< [N], or null
  FloatParameter row_scale = {};
  FloatParameter column_scale = {};
  const float* bias = nullptr;      ///< [N], or null
  const float* residual = nullptr;  ///< [M, N], or null; may be C
  std::size_t residual_stride = 0;
  bool residual_after_activation = false;
  Unary activation = Unary::kIdentity;
  float alpha = 0.0f;
  float beta = 0.0f;
  std::int32_t zero_point = 0;
};

/// Bytes of workspace, 64-byte aligned.
std::size_t integer_gemm_workspace_size(std::size_t m, std::size_t n, std::size_t k);

/// C [M, N] of the output's element type. b_zero_point is by column, in the range of B's element type.
void integer_gemm(std::size_t m, const IntegerA& a, const PackedIntegerB& b, IntegerParameter b_zero_point, IntegerOutput output,
                  void* c, std::size_t c_row_stride, const IntegerEpilogue& epilogue, void* workspace, Parallel parallel = {});

}  // namespace sardonyx::kernels
