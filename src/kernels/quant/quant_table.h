#pragma once

#include <stddef.h>
#include <stdint.h>

namespace sardonyx::kernels {

struct MinMax {
  float min;
  float max;
};

/// One scale and zero point for n elements.
struct QuantTable {
  /// k rows of `width` (16 or 32) bytes: out = (b - zero[block][j]) * scale[block][j], block = row / block_rows; the parameters
  /// of a block are `stride` floats apart.
  void (*dequantize_panel)(const int8_t* b, size_t k, size_t width, size_t block_rows, const float* scale, const float* zero,
                           size_t stride, float* out);
  void (*quantize_uint8)(const float* x, size_t n, float scale, int32_t zero_point, uint8_t* y);
  void (*quantize_int8)(const float* x, size_t n, float scale, int32_t zero_point, int8_t* y);
  void (*dequantize_uint8)(const uint8_t* x, size_t n, float scale, int32_t zero_point, float* y);
  void (*dequantize_int8)(const int8_t* x, size_t n, float scale, int32_t zero_point, float* y);
  void (*dequantize_int32)(const int32_t* x, size_t n, float scale, int32_t zero_point, float* y);
  /// Smallest and largest with 0; NaN is ignored.
  MinMax (*min_max)(const float* x, size_t n);
  void (*half_to_float)(const uint16_t* x, size_t n, float* y);
  void (*float_to_half)(const float* x, size_t n, uint16_t* y);
  void (*bfloat16_to_float)(const uint16_t* x, size_t n, float* y);
  void (*float_to_bfloat16)(const float* x, size_t n, uint16_t* y);
};

}  // namespace sardonyx::kernels
