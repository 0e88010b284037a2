#include "kernels/quant/quant_table.h"
#include "kernels/simd/vec.h"

namespace sardonyx::kernels::SARDONYX_VARIANT {
namespace {

/// Calls whole(i) for every 16 elements and once tail(i, count) for the rest.
template <typename Whole, typename Tail>
SARDONYX_INLINE void for_lanes(size_t n, Whole whole, Tail tail) {
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) whole(i);
  if (i < n) tail(i, n - i);
}

SARDONYX_INLINE I32x16 quantize_lanes(F32x16 x, F32x16 scale, float zero_point, float low, float high) {
  const F32x16 rounded = round(x / scale);
  const F32x16 clamped = min(max(rounded, set1(low - zero_point)), set1(high - zero_point));  // NaN: the second operand, low
  return to_int(clamped + set1(zero_point));
}

template <typename T>
void quantize(const float* x, size_t n, float scale, int32_t zero_point, T* y, float low, float high) {
  const F32x16 divisor = set1(scale);
  const float zero = static_cast<float>(zero_point);
  uint8_t* out = reinterpret_cast<uint8_t*>(y);
  for_lanes(
      n, [&](size_t i) { store_narrow(out + i, quantize_lanes(load(x + i), divisor, zero, low, high)); },
      [&](size_t i, size_t count) {
        uint8_t bytes[kLanes];
        store_narrow(bytes, quantize_lanes(load_partial(x + i, count), divisor, zero, low, high));
        for (size_t l = 0; l < count; ++l) out[i + l] = bytes[l];
      });
}
void quantize_uint8(const float* x, size_t n, float scale, int32_t zero_point, uint8_t* y) {
  quantize(x, n, scale, zero_point, y, 0.0f, 255.0f);
}
void quantize_int8(const float* x, size_t n, float scale, int32_t zero_point, int8_t* y) {
  quantize(x, n, scale, zero_point, y, -128.0f, 127.0f);
}

template <typename T>
void dequantize(const T* x, size_t n, float scale, int32_t zero_point, float* y) {
  const F32x16 factor = set1(scale);
  const I32x16 zero = set1_int(zero_point);
  for_lanes(
      n, [&](size_t i) { store(y + i, to_float(load_widen(x + i) - zero) * factor); },
      [&](size_t i, size_t count) {
        T values[kLanes] = {};
        for (size_t l = 0; l < count; ++l) values[l] = x[i + l];
        store_partial(y + i, count, to_float(load_widen(values) - zero) * factor);
      });
}
void dequantize_int32(const int32_t* x, size_t n, float scale, int32_t zero_point, float* y) {
  const F32x16 factor = set1(scale);
  const I32x16 zero = set1_int(zero_point);
  for_lanes(
      n, [&](size_t i) { store(y + i, to_float(load(x + i) - zero) * factor); },
      [&](size_t i, size_t count) { store_partial(y + i, count, to_float(load_partial(x + i, count) - zero) * factor); });
}

template <int kVectors>
SARDONYX_INLINE void dequantize_rows(const int8_t* b, size_t rows, const float* scale, const float* zero, float* out) {
  F32x16 factor[kVectors], offset[kVectors];
  for (int v = 0; v < kVectors; ++v) {
    factor[v] = load(scale + v * kLanes);
    offset[v] = load(zero + v * kLanes);
  }
  for (size_t i = 0; i < rows; ++i) {
    for (int v = 0; v < kVectors; ++v) {
      store(out + v * kLanes, (to_float(load_widen(b + v * kLanes)) - offset[v]) * factor[v]);
    }
    b += kVectors * kLanes;
    out += kVectors * kLanes;
  }
}

void dequantize_panel(const int8_t* b, size_t k, size_t width, size_t block_rows, const float* scale, const float* zero,
                      size_t stride, float* out) {
  for (size_t row = 0; row < k; row += block_rows) {
    const size_t rows = k - row < block_rows ? k - row : block_rows;
    if (width == kLanes) {
      dequantize_rows<1>(b + row * width, rows, scale, zero, out + row * width);
    } else {
      dequantize_rows<2>(b + row * width, rows, scale, zero, out + row * width);
    }
    scale += stride;
    zero += stride;
  }
}

MinMax min_max(const float* x, size_t n) {
  F32x16 smallest[2] = {zero(), zero()};
  F32x16 largest[2] = {zero(), zero()};
  size_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    for (int j = 0; j < 2; ++j) {
      const F32x16 value = load(x + i + static_cast<size_t>(j) * kLanes);
      smallest[j] = min(value, smallest[j]);  // NaN: the second operand
      largest[j] = max(value, largest[j]);
    }
  }
  for (; i < n; i += kLanes) {
    const F32x16 value = load_partial(x + i, n - i < kLanes ? n - i : kLanes);
    smallest[0] = min(value, smallest[0]);
    largest[0] = max(value, largest[0]);
  }
  return {reduce_min(min(smallest[0], smallest[1])), reduce_max(max(largest[0], largest[1]))};
}

void half_to_float(const uint16_t* x, size_t n, float* y) {
  for_lanes(
      n, [&](size_t i) { store(y + i, load_half(x + i)); },
      [&](size_t i, size_t count) {
        uint16_t values[kLanes] = {};
        for (size_t l = 0; l < count; ++l) values[l] = x[i + l];
        store_partial(y + i, count, load_half(values));
      });
}
void float_to_half(const float* x, size_t n, uint16_t* y) {
  for_lanes(
      n, [&](size_t i) { store_half(y + i, load(x + i)); },
      [&](size_t i, size_t count) {
        uint16_t values[kLanes];
        store_half(values, load_partial(x + i, count));
        for (size_t l = 0; l < count; ++l) y[i + l] = values[l];
      });
}

void bfloat16_to_float(const uint16_t* x, size_t n, float* y) {
  for_lanes(
      n, [&](size_t i) { store(y + i, from_bits(load_widen(x + i) << 16)); },
      [&](size_t i, size_t count) {
        for (size_t l = 0; l < count; ++l) {
          const uint32_t bits = static_cast<uint32_t>(x[i + l]) << 16;
          __builtin_memcpy(y + i + l, &bits, sizeof bits);
        }
      });
}
SARDONYX_INLINE I32x16 round_to_bfloat16(F32x16 x) {
  const I32x16 bits = to_bits(x);
  const I32x16 rounded = bits + set1_int(0x7fff) + (shift_right_logical(bits, 16) & set1_int(1));
  const I32x16 quiet = bits | set1_int(0x400000);
  return shift_right_logical(select(is_nan(x), quiet, rounded), 16);
}
void float_to_bfloat16(const float* x, size_t n, uint16_t* y) {
  for_lanes(
      n, [&](size_t i) { store_narrow(y + i, round_to_bfloat16(load(x + i))); },
      [&](size_t i, size_t count) {
        uint16_t values[kLanes];
        store_narrow(values, round_to_bfloat16(load_partial(x + i, count)));
        for (size_t l = 0; l < count; ++l) y[i + l] = values[l];
      });
}

}  // namespace

extern const QuantTable kQuantTable;
constexpr QuantTable kQuantTable = {
    dequantize_panel,
    quantize_uint8, quantize_int8, dequantize<uint8_t>, dequantize<int8_t>, dequantize_int32, min_max,
    half_to_float,  float_to_half, bfloat16_to_float,   float_to_bfloat16,
};

}  // namespace sardonyx::kernels::SARDONYX_VARIANT
