#include "kernels/quant/quant.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>

#include "kernels/simd/dispatch.h"

namespace sardonyx::kernels {

SARDONYX_VARIANTS(QuantTable, kQuantTable);

const QuantTable& active_quant_table() { return kQuantTableVariants.get(); }

namespace {

constexpr std::size_t kChunk = 32768;  // elements per task

const QuantTable& table() { return active_quant_table(); }

template <typename Function, typename X, typename Y>
void run_scaled(Function function, const X* x, std::size_t n, float scale, std::int32_t zero_point, Y* y, Parallel parallel) {
  parallel.parallel_for(n, kChunk, [&](std::size_t begin, std::size_t end) {
    function(x + begin, end - begin, scale, zero_point, y + begin);
  });
}

template <typename Function, typename X, typename Y>
void run_conversion(Function function, const X* x, std::size_t n, Y* y, Parallel parallel) {
  parallel.parallel_for(n, kChunk, [&](std::size_t begin, std::size_t end) { function(x + begin, end - begin, y + begin); });
}

/// Keeps the smaller (or larger) of floats without NaN.
template <typename Better>
void update(std::atomic<float>& kept, float value, Better better) {
  float seen = kept.load(std::memory_order_relaxed);
  while (better(value, seen) && !kept.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

}  // namespace

void quantize(const float* x, std::size_t n, float scale, std::int32_t zero_point, std::uint8_t* y, Parallel parallel) {
  run_scaled(table().quantize_uint8, x, n, scale, zero_point, y, parallel);
}
void quantize(const float* x, std::size_t n, float scale, std::int32_t zero_point, std::int8_t* y, Parallel parallel) {
  run_scaled(table().quantize_int8, x, n, scale, zero_point, y, parallel);
}
void dequantize(const std::uint8_t* x, std::size_t n, float scale, std::int32_t zero_point, float* y, Parallel parallel) {
  run_scaled(table().dequantize_uint8, x, n, scale, zero_point, y, parallel);
}
void dequantize(const std::int8_t* x, std::size_t n, float scale, std::int32_t zero_point, float* y, Parallel parallel) {
  run_scaled(table().dequantize_int8, x, n, scale, zero_point, y, parallel);
}
void dequantize(const std::int32_t* x, std::size_t n, float scale, std::int32_t zero_point, float* y, Parallel parallel) {
  run_scaled(table().dequantize_int32, x, n, scale, zero_point, y, parallel);
}

MinMax min_max_with_zero(const float* x, std::size_t n, Parallel parallel) {
  if (n <= kChunk) return table().min_max(x, n);
  std::atomic<float> smallest{0.0f};
  std::atomic<float> largest{0.0f};
  parallel.parallel_for(n, kChunk, [&](std::size_t begin, std::size_t end) {
    const MinMax part = table().min_max(x + begin, end - begin);
    update(smallest, part.min, [](float a, float b) { return a < b; });
    update(largest, part.max, [](float a, float b) { return a > b; });
  });
  return {smallest.load(), largest.load()};
}

QuantizationParameters uint8_parameters(MinMax range) {
  const float scale = (range.max - range.min) / 255.0f;
  if (scale == 0.0f) return {1.0f, 0};
  const float zero_point = std::clamp(0.0f - range.min / scale, 0.0f, 255.0f);
  return {scale, static_cast<std::int32_t>(std::nearbyint(zero_point))};
}

QuantizationParameters dynamic_quantize(const float* x, std::size_t n, std::uint8_t* y, Parallel parallel) {
  const QuantizationParameters parameters = uint8_parameters(min_max_with_zero(x, n, parallel));
  quantize(x, n, parameters.scale, parameters.zero_point, y, parallel);
  return parameters;
}

void convert(const Half* x, std::size_t n, float* y, Parallel parallel) {
  run_conversion(table().half_to_float, &x->bits, n, y, parallel);
}
void convert(const float* x, std::size_t n, Half* y, Parallel parallel) {
  run_conversion(table().float_to_half, x, n, &y->bits, parallel);
}
void convert(const BFloat16* x, std::size_t n, float* y, Parallel parallel) {
  run_conversion(table().bfloat16_to_float, &x->bits, n, y, parallel);
}
void convert(const float* x, std::size_t n, BFloat16* y, Parallel parallel) {
  run_conversion(table().float_to_bfloat16, x, n, &y->bits, parallel);
}

}  // namespace sardonyx::kernels
