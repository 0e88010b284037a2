#include "kernels/conv/direct_conv_table.h"
#include "kernels/gemm/tile_shape.h"
#include "kernels/simd/vec.h"

namespace sardonyx::kernels::SARDONYX_VARIANT {
namespace {

void copy_pixels(const PixelCopy& p) {
  for (size_t channel = 0; channel < p.channels; channel += kLanes) {
    const size_t channels = p.channels - channel < kLanes ? p.channels - channel : kLanes;
    const bool whole = channel + kLanes <= p.pitch;  // else what follows belongs to the next pixel
    for (size_t column = 0; column < p.columns; column += kLanes) {
      const size_t columns = p.columns - column < kLanes ? p.columns - column : kLanes;
      F32x16 block[kLanes];
#pragma GCC unroll 16
      for (size_t c = 0; c < kLanes; ++c) {
        block[c] = c < channels ? load_some(p.x + (channel + c) * p.plane + column, columns) : zero();
      }
      transpose(block);
      float* out = p.out + column * p.pitch + channel;
      if (whole && columns == kLanes) {
#pragma GCC unroll 16
        for (size_t i = 0; i < kLanes; ++i) store(out + i * p.pitch, block[i]);
      } else {
        for (size_t i = 0; i < columns; ++i) store_some(out + i * p.pitch, whole ? kLanes : channels, block[i]);
      }
    }
  }
}

/// From sums by pixel and channel to what y holds, by channel and pixel.
void write_channels(const DirectTile& t, const float* sums, size_t rows, size_t width) {
  for (size_t first = 0; first < t.channels; first += kLanes) {
    const size_t channels = t.channels - first < kLanes ? t.channels - first : kLanes;
    const F32x16 bias = t.bias == nullptr ? zero() : load_some(t.bias + first, channels);
    F32x16 block[kLanes];
#pragma GCC unroll 16
    for (size_t r = 0; r < kLanes; ++r) {
      block[r] = r < rows ? load(sums + r * width + first) : zero();
      if (t.bias != nullptr) block[r] = block[r] + bias;
    }
    transpose(block);
    float* y = t.y + first * t.plane;
    const float* residual = t.residual == nullptr ? nullptr : t.residual + first * t.plane;
    const auto add_residual = [&] {
      for (size_t c = 0; c < channels; ++c) block[c] = block[c] + load_partial(residual + c * t.plane, rows);
    };
    if (residual != nullptr && !t.residual_last) add_residual();
    if (t.activation.clamps) {
      const F32x16 low = set1(t.activation.alpha), high = set1(t.activation.beta);
#pragma GCC unroll 16
      for (size_t c = 0; c < kLanes; ++c) block[c] = min(high, max(low, block[c]));
    }
    if (t.activation.function != nullptr) {
      alignas(64) float values[kLanes * kLanes];
#pragma GCC unroll 16
      for (size_t c = 0; c < kLanes; ++c) store(values + c * kLanes, block[c]);
      t.activation.function(values, values, channels * kLanes, t.activation.alpha, t.activation.beta);
#pragma GCC unroll 16
      for (size_t c = 0; c < kLanes; ++c) block[c] = load(values + c * kLanes);
    }
    if (residual != nullptr && t.residual_last) add_residual();
    for (size_t c = 0; c < channels; ++c) store_partial(y + c * t.plane, rows, block[c]);
  }
}

/// Of kRows pixels the first kHalf lie in one output row, the others in the next.
template <int kRows, int kHalf, int kVectors, int kPrefetch>
void run_direct_tile(const DirectTile& t) {
  F32x16 sum[kRows][kVectors];
#pragma GCC unroll 14
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) sum[r][v] = zero();
  }
  // Pixels are addressed in groups of three from one pointer, which fits the addressing modes.
  constexpr int kHalfGroups = (kHalf + 2) / 3;
  constexpr int kGroups = kHalfGroups + (kRows - kHalf + 2) / 3;
  const ptrdiff_t pixel = t.pixel_stride;
  const float* w = t.weights;
  const char* next = t.prefetch;
  const size_t prefetch_step = t.prefetch_step;
  for (const TapRun* run = t.runs; run != t.runs + t.run_count; ++run) {
    const float* x[kGroups];
#pragma GCC unroll 6
    for (int g = 0; g < kGroups; ++g) {
      x[g] = t.x + run->offset + (g < kHalfGroups ? 3 * g * pixel : t.row_stride + 3 * (g - kHalfGroups) * pixel);
    }
    for (size_t k = run->count; k != 0; --k) {
      F32x16 column[kVectors];
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) column[v] = load(w + v * kLanes);
      w += kVectors * kLanes;
      if constexpr (kPrefetch > 0) {
#pragma GCC unroll 2
        for (int line = 0; line < kPrefetch; ++line) __builtin_prefetch(next + line * 64, 0, 2);
        next += prefetch_step;
      }
#pragma GCC unroll 14
      for (int r = 0; r < kRows; ++r) {
        const int group = r < kHalf ? r / 3 : kHalfGroups + (r - kHalf) / 3, place = (r < kHalf ? r : r - kHalf) % 3;
        const F32x16 value = set1(x[group][place * pixel]);
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; ++v) sum[r][v] = fma(value, column[v], sum[r][v]);
      }
#pragma GCC unroll 6
      for (int g = 0; g < kGroups; ++g) ++x[g];
    }
  }
  alignas(64) float sums[kRows][kVectors * kLanes];
#pragma GCC unroll 14
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) store(sums[r] + v * kLanes, sum[r][v]);
  }
  write_channels(t, sums[0], kRows, kVectors * kLanes);
}

template <int kRows, int kVectors>
constexpr void fill(DirectConvTable& table) {
  table.tile[kRows - 1][kVectors - 1][0] = run_direct_tile<kRows, kRows, kVectors, 0>;
  table.tile[kRows - 1][kVectors - 1][1] = run_direct_tile<kRows, kRows, kVectors, 1>;
  table.tile[kRows - 1][kVectors - 1][2] = run_direct_tile<kRows, kRows, kVectors, kVectors>;
  if constexpr (kRows >= kDirectMinHalf && 2 * kRows <= kTileRows) {
    table.two_rows[kRows - 1][kVectors - 1][0] = run_direct_tile<2 * kRows, kRows, kVectors, 0>;
    table.two_rows[kRows - 1][kVectors - 1][1] = run_direct_tile<2 * kRows, kRows, kVectors, 1>;
    table.two_rows[kRows - 1][kVectors - 1][2] = run_direct_tile<2 * kRows, kRows, kVectors, kVectors>;
  }
  if constexpr (kVectors > 1) fill<kRows, kVectors - 1>(table);
  if constexpr (kRows > 1 && kVectors == kTileVectors) fill<kRows - 1, kVectors>(table);
}

constexpr DirectConvTable make_table() {
  DirectConvTable table = {};
  table.max_rows = kTileRows;
  table.copy_pixels = copy_pixels;
  fill<kTileRows, kTileVectors>(table);
  return table;
}

}  // namespace

extern const DirectConvTable kDirectConvTable;
constexpr DirectConvTable kDirectConvTable = make_table();

}  // namespace sardonyx::kernels::SARDONYX_VARIANT
