#include "kernels/gemm/gemm_table.h"
#include "kernels/gemm/tile_shape.h"
#include "kernels/simd/vec.h"

namespace sardonyx::kernels::SARDONYX_VARIANT {
namespace {

#if defined(__AVX512F__)
constexpr const char* kName = "avx512_14x32";
#elif defined(__AVX2__)
constexpr const char* kName = "avx2_6x16";
#else
constexpr const char* kName = "generic_2x16";
#endif

SARDONYX_INLINE F32x16 load_columns(const float* p, size_t columns, size_t vector) {
  const size_t first = vector * kLanes;
  if (columns >= first + kLanes) return load(p + first);
  return columns > first ? load_partial(p + first, columns - first) : zero();
}
SARDONYX_INLINE void store_columns(float* p, size_t columns, size_t vector, F32x16 value) {
  const size_t first = vector * kLanes;
  if (columns >= first + kLanes) {
    store(p + first, value);
  } else if (columns > first) {
    store_partial(p + first, columns - first, value);
  }
}

template <int kVectors>
SARDONYX_INLINE void add_residual(const GemmTile& t, size_t row, F32x16* sum) {
  for (int v = 0; v < kVectors; ++v) sum[v] = sum[v] + load_columns(t.residual + row * t.residual_stride, t.columns, v);
}

template <int kVectors>
SARDONYX_INLINE void finish_row(const GemmTile& t, size_t row, F32x16* sum) {
  if (t.scale != 1.0f) {
    for (int v = 0; v < kVectors; ++v) sum[v] = sum[v] * set1(t.scale);
  }
  if (t.bias != nullptr) {
    for (int v = 0; v < kVectors; ++v) sum[v] = sum[v] + load_columns(t.bias, t.columns, v);
  }
  if (t.row_bias != nullptr) {
    for (int v = 0; v < kVectors; ++v) sum[v] = sum[v] + set1(t.row_bias[row]);
  }
  if (t.residual != nullptr && !t.residual_last) add_residual<kVectors>(t, row, sum);
  if (t.activation.clamps) {
    const F32x16 low = set1(t.activation.alpha), high = set1(t.activation.beta);
    for (int v = 0; v < kVectors; ++v) sum[v] = min(high, max(low, sum[v]));
  }
  if (t.residual != nullptr && t.residual_last && t.activation.function == nullptr) add_residual<kVectors>(t, row, sum);
}

template <int kRows, int kVectors>
SARDONYX_INLINE void write_tile(const GemmTile& t, F32x16 (&sum)[kRows][kVectors]) {
  if (t.finish) {
#pragma GCC unroll 14
    for (int r = 0; r < kRows; ++r) finish_row<kVectors>(t, r, sum[r]);
  }
  if (t.finish && t.activation.function != nullptr) {
    // The accumulators go to memory first: a call would spill all of them around every row.
    alignas(64) float rows[kRows][kVectors * kLanes];
#pragma GCC unroll 14
    for (int r = 0; r < kRows; ++r) {
      for (int v = 0; v < kVectors; ++v) store(rows[r] + v * kLanes, sum[r][v]);
    }
    t.activation.function(rows[0], rows[0], kRows * kVectors * kLanes, t.activation.alpha, t.activation.beta);
    for (size_t r = 0; r < kRows; ++r) {
      for (int v = 0; v < kVectors; ++v) {
        F32x16 y = load(rows[r] + v * kLanes);
        if (t.residual != nullptr && t.residual_last) {
          y = y + load_columns(t.residual + r * t.residual_stride, t.columns, v);
        }
        store_columns(t.c + r * t.c_row_stride, t.columns, v, y);
      }
    }
    return;
  }
#pragma GCC unroll 14
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) store_columns(t.c + r * t.c_row_stride, t.columns, v, sum[r][v]);
  }
}

template <int kRows, int kVectors, int kPrefetch>
void run_tile(const GemmTile& t) {
  F32x16 sum[kRows][kVectors];
  if (t.load_c) {
#pragma GCC unroll 14
    for (int r = 0; r < kRows; ++r) {
      for (int v = 0; v < kVectors; ++v) sum[r][v] = load_columns(t.c + r * t.c_row_stride, t.columns, v);
    }
  } else {
#pragma GCC unroll 14
    for (int r = 0; r < kRows; ++r) {
      for (int v = 0; v < kVectors; ++v) sum[r][v] = zero();
    }
  }
  // Rows are addressed in groups of three from one pointer, which fits the addressing modes.
  constexpr int kGroups = (kRows + 2) / 3;
  const ptrdiff_t row = t.a_row_stride;
  const float* a[kGroups];
#pragma GCC unroll 5
  for (int g = 0; g < kGroups; ++g) a[g] = t.a + 3 * g * row;
  const float* b = t.b;
  const char* next = t.prefetch;
  const size_t prefetch_step = t.prefetch_step;
  const ptrdiff_t k_stride = t.a_k_stride;
  const size_t b_stride = t.b_stride;
  for (size_t k = t.k; k != 0; --k) {
    F32x16 column[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) column[v] = load(b + v * kLanes);
    b += b_stride;
    if constexpr (kPrefetch > 0) {
#pragma GCC unroll 2
      for (int line = 0; line < kPrefetch; ++line) __builtin_prefetch(next + line * 64, 0, 2);
      next += prefetch_step;
    }
#pragma GCC unroll 14
    for (int r = 0; r < kRows; ++r) {
      const F32x16 value = set1(a[r / 3][(r % 3) * row]);
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) sum[r][v] = fma(value, column[v], sum[r][v]);
    }
#pragma GCC unroll 5
    for (int g = 0; g < kGroups; ++g) a[g] += k_stride;
  }
  write_tile<kRows, kVectors>(t, sum);
}

void run_row(const GemmTile& t, size_t panel_stride) {
  constexpr size_t kWidth = kTileVectors * kLanes;
  F32x16 sum[kGemmRowPanels][kTileVectors];
#pragma GCC unroll 4
  for (size_t p = 0; p < kGemmRowPanels; ++p) {
    for (int v = 0; v < kTileVectors; ++v) sum[p][v] = t.load_c ? load(t.c + p * kWidth + v * kLanes) : zero();
  }
  const float* a = t.a;
  const float* b = t.b;
  for (size_t k = t.k; k != 0; --k, a += t.a_k_stride, b += t.b_stride) {
    const F32x16 value = set1(*a);
#pragma GCC unroll 4
    for (size_t p = 0; p < kGemmRowPanels; ++p) {
#pragma GCC unroll 2
      for (int v = 0; v < kTileVectors; ++v) sum[p][v] = fma(value, load(b + p * panel_stride + v * kLanes), sum[p][v]);
    }
  }
  for (size_t p = 0; p < kGemmRowPanels; ++p) {
    GemmTile panel = t;
    panel.c += p * kWidth;
    if (t.bias != nullptr) panel.bias += p * kWidth;
    if (t.residual != nullptr) panel.residual += p * kWidth;
    F32x16 row[1][kTileVectors];
    for (int v = 0; v < kTileVectors; ++v) row[0][v] = sum[p][v];
    write_tile<1, kTileVectors>(panel, row);
  }
}

float dot(const float* a, const float* b, size_t n) {
  constexpr size_t kBlock = 4096;
  float total = 0.0f;
  for (size_t begin = 0; begin < n; begin += kBlock) {
    const size_t end = n - begin < kBlock ? n : begin + kBlock;
    F32x16 sum = zero();
    size_t i = begin;
    for (; i + kLanes <= end; i += kLanes) sum = fma(load(a + i), load(b + i), sum);
    if (i < end) sum = fma(load_partial(a + i, end - i), load_partial(b + i, end - i), sum);
    total = begin == 0 ? reduce_add(sum) : total + reduce_add(sum);
  }
  return total;
}

void pack_transposed(const float* b, ptrdiff_t n_stride, size_t k, size_t columns, size_t width, float* out) {
  for (size_t j = 0; j < width; j += kLanes) {
    for (size_t i = 0; i < k; i += kLanes) {
      const size_t count = k - i < kLanes ? k - i : kLanes;
      F32x16 block[kLanes];
#pragma GCC unroll 16
      for (size_t l = 0; l < kLanes; ++l) {
        block[l] = zero();
        if (j + l >= columns) continue;
        const float* column = b + static_cast<ptrdiff_t>(j + l) * n_stride + i;
        block[l] = load_some(column, count);
      }
      transpose(block);
      if (count == kLanes) {
#pragma GCC unroll 16
        for (size_t l = 0; l < kLanes; ++l) store(out + (i + l) * width + j, block[l]);
      } else {
        for (size_t l = 0; l < count; ++l) store(out + (i + l) * width + j, block[l]);
      }
    }
  }
}

template <int kRows, int kVectors>
constexpr void fill(GemmKernel& kernel) {
  kernel.tile[kRows - 1][kVectors - 1][0] = run_tile<kRows, kVectors, 0>;
  kernel.tile[kRows - 1][kVectors - 1][1] = run_tile<kRows, kVectors, 1>;
  kernel.tile[kRows - 1][kVectors - 1][2] = run_tile<kRows, kVectors, kVectors>;
  if constexpr (kVectors > 1) fill<kRows, kVectors - 1>(kernel);
  if constexpr (kRows > 1 && kVectors == kTileVectors) fill<kRows - 1, kVectors>(kernel);
}

constexpr GemmKernel make_kernel() {
  GemmKernel kernel = {};
  kernel.name = kName;
  kernel.max_rows = kTileRows;
  kernel.panel_vectors = kTileVectors;
  kernel.row = run_row;
  kernel.dot = dot;
  kernel.pack_transposed = pack_transposed;
  fill<kTileRows, kTileVectors>(kernel);
  return kernel;
}

}  // namespace

extern const GemmKernel kGemmKernel;
constexpr GemmKernel kGemmKernel = make_kernel();

}  // namespace sardonyx::kernels::SARDONYX_VARIANT
