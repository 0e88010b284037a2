#include "kernels/gemm/integer_gemm_table.h"
#include "kernels/simd/vec.h"

namespace sardonyx::kernels::SARDONYX_VARIANT {
namespace {

// Bytes of A (made unsigned) times bytes of B (made signed). vpmaddubsw would saturate its 16-bit sums, so without VNNI
// both sides are widened to 16 bits and vpmaddwd adds exact pairs.
#if defined(__AVX512VNNI__)
constexpr const char* kName = "avx512vnni_14x32";
constexpr int kMaxRows = 14;
constexpr int kPanelVectors = 2;
constexpr int kStep = 4;
using ElementA = uint8_t;
struct Columns {
  __m512i v;
};
struct Broadcast {
  __m512i v;
};
SARDONYX_INLINE Columns load_b(const int8_t* p) { return {_mm512_loadu_si512(p)}; }
SARDONYX_INLINE Broadcast load_a(const ElementA* p) {
  int32_t word;
  __builtin_memcpy(&word, p, sizeof word);
  return {_mm512_set1_epi32(word)};
}
SARDONYX_INLINE I32x16 multiply_add(I32x16 sum, Broadcast a, Columns b) {
  return {_mm512_dpbusd_epi32(sum.v, a.v, b.v)};
}
#elif defined(__AVX512F__)
constexpr const char* kName = "avx512_12x32";
constexpr int kMaxRows = 12;
constexpr int kPanelVectors = 2;
constexpr int kStep = 2;
using ElementA = int16_t;
struct Columns {
  __m512i v;
};
struct Broadcast {
  __m512i v;
};
SARDONYX_INLINE Columns load_b(const int8_t* p) {
  return {_mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))};
}
SARDONYX_INLINE Broadcast load_a(const ElementA* p) {
  int32_t word;
  __builtin_memcpy(&word, p, sizeof word);
  return {_mm512_set1_epi32(word)};
}
SARDONYX_INLINE I32x16 multiply_add(I32x16 sum, Broadcast a, Columns b) {
  return {_mm512_add_epi32(sum.v, _mm512_madd_epi16(a.v, b.v))};
}
#elif defined(__AVX2__)
constexpr const char* kName = "avx2_6x16";
constexpr int kMaxRows = 6;
constexpr int kPanelVectors = 1;
constexpr int kStep = 2;
using ElementA = int16_t;
struct Columns {
  __m256i lo, hi;
};
struct Broadcast {
  __m256i v;
};
SARDONYX_INLINE Columns load_b(const int8_t* p) {
  return {_mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))),
          _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 16)))};
}
SARDONYX_INLINE Broadcast load_a(const ElementA* p) {
  int32_t word;
  __builtin_memcpy(&word, p, sizeof word);
  return {_mm256_set1_epi32(word)};
}
SARDONYX_INLINE I32x16 multiply_add(I32x16 sum, Broadcast a, Columns b) {
  return {_mm256_add_epi32(sum.lo, _mm256_madd_epi16(a.v, b.lo)),
          _mm256_add_epi32(sum.hi, _mm256_madd_epi16(a.v, b.hi))};
}
#else
constexpr const char* kName = "generic_2x16";
constexpr int kMaxRows = 2;
constexpr int kPanelVectors = 1;
constexpr int kStep = 2;
using ElementA = int16_t;
struct Columns {
  I32x16 even, odd;
};
struct Broadcast {
  I32x16 even, odd;
};
SARDONYX_INLINE Columns load_b(const int8_t* p) {
  Columns b;
  for (int i = 0; i < 16; ++i) {
    b.even.v[i] = p[2 * i];
    b.odd.v[i] = p[2 * i + 1];
  }
  return b;
}
SARDONYX_INLINE Broadcast load_a(const ElementA* p) { return {set1_int(p[0]), set1_int(p[1])}; }
SARDONYX_INLINE I32x16 multiply_add(I32x16 sum, Broadcast a, Columns b) {
  return sum + a.even * b.even + a.odd * b.odd;
}
#endif

template <typename T>
SARDONYX_INLINE auto load_columns(const T* p, size_t columns, size_t vector) {
  const size_t first = vector * kLanes;
  if (columns >= first + kLanes) return load(p + first);
  return load_partial(p + first, columns > first ? columns - first : 0);
}
template <typename T, typename V>
SARDONYX_INLINE void store_columns(T* p, size_t columns, size_t vector, V value) {
  const size_t first = vector * kLanes;
  if (columns >= first + kLanes) {
    store(p + first, value);
  } else if (columns > first) {
    store_partial(p + first, columns - first, value);
  }
}

SARDONYX_INLINE void store_bytes(uint8_t* p, size_t columns, size_t vector, I32x16 value) {
  const size_t first = vector * kLanes;
  if (columns >= first + kLanes) return store_narrow(p + first, value);
  uint8_t bytes[kLanes];
  store_narrow(bytes, value);
  for (size_t i = first; i < columns; ++i) p[i] = bytes[i - first];
}

SARDONYX_INLINE I32x16 round_to_byte(F32x16 y, float zero_point, float low, float high) {
  const F32x16 shifted = min(set1(high - zero_point), max(set1(low - zero_point), y));
  return to_int(round(shifted) + set1(zero_point));
}

/// Takes the zero points out of one row's sums: s - za sum(b) - zb sum(a - za), and adds the integer bias.
template <int kVectors>
SARDONYX_INLINE void correct_row(const IntegerTile& t, size_t row, I32x16* sum) {
  const I32x16 a_zero = set1_int(t.row_zero[row]);
  const I32x16 a_sum = set1_int(t.row_sum[row]);
  for (int v = 0; v < kVectors; ++v) {
    const I32x16 b_sum = load_columns(t.column_sum, t.columns, v);
    const I32x16 b_zero = load_columns(t.column_zero, t.columns, v);
    sum[v] = sum[v] - a_zero * b_sum - a_sum * b_zero;
    if (t.integer_bias != nullptr) sum[v] = sum[v] + load_columns(t.integer_bias, t.columns, v);
  }
}

template <int kVectors>
SARDONYX_INLINE void write_float_row(const IntegerTile& t, size_t row, const F32x16* scaled) {
  alignas(64) float buffer[kVectors * kLanes];
  float* c = static_cast<float*>(t.c) + row * t.c_row_stride;
  for (int v = 0; v < kVectors; ++v) {
    F32x16 y = scaled[v];
    if (t.bias != nullptr) y = y + load_columns(t.bias, t.columns, v);
    if (t.residual != nullptr && !t.residual_last)
      y = y + load_columns(t.residual + row * t.residual_stride, t.columns, v);
    store(buffer + v * kLanes, y);
  }
  if (t.activation != nullptr) t.activation(buffer, buffer, kVectors * kLanes, t.alpha, t.beta);
  for (int v = 0; v < kVectors; ++v) {
    F32x16 y = load(buffer + v * kLanes);
    if (t.residual != nullptr && t.residual_last)
      y = y + load_columns(t.residual + row * t.residual_stride, t.columns, v);
    store_columns(c, t.columns, v, y);
  }
}

template <int kVectors>
SARDONYX_INLINE void write_row(const IntegerTile& t, size_t row, I32x16* sum) {
  if (t.output == IntegerOutput::kInt32) {
    int32_t* c = static_cast<int32_t*>(t.c) + row * t.c_row_stride;
    for (int v = 0; v < kVectors; ++v) store_columns(c, t.columns, v, sum[v]);
    return;
  }
  F32x16 scaled[kVectors];
  for (int v = 0; v < kVectors; ++v) {
    scaled[v] = to_float(sum[v]) * (set1(t.row_scale[row]) * load_columns(t.column_scale, t.columns, v));
  }
  if (t.output == IntegerOutput::kFloat) return write_float_row<kVectors>(t, row, scaled);
  const bool is_signed = t.output == IntegerOutput::kInt8;
  uint8_t* c = static_cast<uint8_t*>(t.c) + row * t.c_row_stride;
  for (int v = 0; v < kVectors; ++v) {
    const I32x16 bytes =
        round_to_byte(scaled[v], t.zero_point, is_signed ? -128.0f : 0.0f, is_signed ? 127.0f : 255.0f);
    store_bytes(c, t.columns, v, bytes);
  }
}

template <int kRows, int kVectors>
void run_tile(const IntegerTile& t) {
  I32x16 sum[kRows][kVectors];
#pragma GCC unroll 14
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) sum[r][v] = set1_int(0);
  }
  constexpr int kGroups = (kRows + 2) / 3;
  const auto row = static_cast<ptrdiff_t>(t.a_row_bytes / sizeof(ElementA));
  const ElementA* a[kGroups];
#pragma GCC unroll 5
  for (int g = 0; g < kGroups; ++g) a[g] = static_cast<const ElementA*>(t.a) + 3 * g * row;
  const int8_t* b = t.b;
  const int8_t* next = t.next_panel == nullptr ? t.b : t.next_panel;
  for (size_t step = t.steps; step != 0; --step) {
    Columns column[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) column[v] = load_b(b + v * kLanes * kStep);
    b += kVectors * kLanes * kStep;
    __builtin_prefetch(next, 0, 2);
    if constexpr (kVectors * kStep > 4) __builtin_prefetch(next + 64, 0, 2);
    next += kVectors * kLanes * kStep;
#pragma GCC unroll 14
    for (int r = 0; r < kRows; ++r) {
      const Broadcast value = load_a(a[r / 3] + (r % 3) * row);
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) sum[r][v] = multiply_add(sum[r][v], value, column[v]);
    }
#pragma GCC unroll 5
    for (int g = 0; g < kGroups; ++g) a[g] += kStep;
  }
  // To memory first: what follows may call, and would spill every register around every row.
  alignas(64) int32_t rows[kRows][kVectors * kLanes];
#pragma GCC unroll 14
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) store(rows[r] + v * kLanes, sum[r][v]);
  }
  for (size_t r = 0; r < kRows; ++r) {
    I32x16 one[kVectors];
    for (int v = 0; v < kVectors; ++v) one[v] = load(rows[r] + v * kLanes);
    correct_row<kVectors>(t, r, one);
    write_row<kVectors>(t, r, one);
  }
}

int32_t prepare_row(const uint8_t* a, size_t k, uint8_t flip, size_t padded, void* out) {
  ElementA* y = static_cast<ElementA*>(out);
  int32_t sum = 0;
  for (size_t i = 0; i < k; ++i) {
    const uint8_t value = a[i] ^ flip;
    sum += value;
    y[i] = value;
  }
  for (size_t i = k; i < padded; ++i) y[i] = 0;
  return sum;
}

template <int kRows, int kVectors>
constexpr void fill(IntegerGemmKernel& kernel) {
  kernel.tile[kRows - 1][kVectors - 1] = run_tile<kRows, kVectors>;
  if constexpr (kVectors > 1) fill<kRows, kVectors - 1>(kernel);
  if constexpr (kRows > 1 && kVectors == kPanelVectors) fill<kRows - 1, kVectors>(kernel);
}

constexpr IntegerGemmKernel make_kernel() {
  IntegerGemmKernel kernel = {};
  kernel.name = kName;
  kernel.max_rows = kMaxRows;
  kernel.panel_vectors = kPanelVectors;
  kernel.k_step = kStep;
  kernel.a_bytes = sizeof(ElementA);
  kernel.prepare_row = prepare_row;
  fill<kMaxRows, kPanelVectors>(kernel);
  return kernel;
}

}  // namespace

extern const IntegerGemmKernel kIntegerGemmKernel;
constexpr IntegerGemmKernel kIntegerGemmKernel = make_kernel();

}  // namespace sardonyx::kernels::SARDONYX_VARIANT
