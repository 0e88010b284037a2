#pragma once

#include <cstddef>
#include <cstdint>

#include "base/numeric/half.h"
#include "base/thread_pool.h"
#include "kernels/quant/quant_table.h"

namespace sardonyx::kernels {

/// The functions of the running instruction set, for kernels that do their own loops.
const QuantTable& active_quant_table();

/// y[i] = x[i] / scale rounded to nearest even, plus zero_point, saturated to T (uint8 or int8), as ONNX's QuantizeLinear.
/// NaN gives T's smallest value.
void quantize(const float* x, std::size_t n, float scale, std::int32_t zero_point, std::uint8_t* y, Parallel parallel = {});
void quantize(const float* x, std::size_t n, float scale, std::int32_t zero_point, std::int8_t* y, Parallel parallel = {});

/// y[i] = float(x[i] - zero_point) * scale, as ONNX's DequantizeLinear.
void dequantize(const std::uint8_t* x, std::size_t n, float scale, std::int32_t zero_point, float* y, Parallel parallel = {});
void dequantize(const std::int8_t* x, std::size_t n, float scale, std::int32_t zero_point, float* y, Parallel parallel = {});
void dequantize(const std::int32_t* x, std::size_t n, float scale, std::int32_t zero_point, float* y, Parallel parallel = {});

/// Smallest and largest element and 0. NaN is ignored. Exact, so the order of threads does not matter.
MinMax min_max_with_zero(const float* x, std::size_t n, Parallel parallel = {});

struct QuantizationParameters {
  float scale;
  std::int32_t zero_point;
};

/// Scale and zero point of a range that holds 0 for uint8, as ONNX's DynamicQuantizeLinear: scale = (max - min) / 255, zero
/// point = round(-min / scale) saturated. A range of only 0 has scale 1.
QuantizationParameters uint8_parameters(MinMax range);

/// y = x quantised by uint8_parameters(min_max_with_zero(x)).
QuantizationParameters dynamic_quantize(const float* x, std::size_t n, std::uint8_t* y, Parallel parallel = {});

/// Conversions of whole arrays; roundings as in base/numeric/half.h.
void convert(const Half* x, std::size_t n, float* y, Parallel parallel = {});
void convert(const float* x, std::size_t n, Half* y, Parallel parallel = {});
void convert(const BFloat16* x, std::size_t n, float* y, Parallel parallel = {});
void convert(const float* x, std::size_t n, BFloat16* y, Parallel parallel = {});

}  // namespace sardonyx::kernels
