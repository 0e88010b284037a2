#include "kernels/gemm/integer_gemm.h"

#include <algorithm>
#include <cstring>

#include "kernels/math/elementwise.h"
#include "kernels/simd/dispatch.h"

namespace sardonyx::kernels {

SARDONYX_VARIANTS_WITH_VNNI(IntegerGemmKernel, kIntegerGemmKernel);

namespace {

constexpr std::size_t kLanes = 16;
constexpr std::size_t kChunkWork = std::size_t{1} << 21;  // multiply-adds per task

std::size_t divide_up(std::size_t a, std::size_t b) { return (a + b - 1) / b; }
std::size_t round_up(std::size_t n, std::size_t step) { return divide_up(n, step) * step; }

const IntegerGemmKernel& active_kernel() { return kIntegerGemmKernelVariants.get(); }

std::size_t padded_k(const IntegerGemmKernel& kernel, std::size_t k) {
  return round_up(k, static_cast<std::size_t>(kernel.k_step));
}
std::size_t panel_columns(const IntegerGemmKernel& kernel) {
  return kLanes * static_cast<std::size_t>(kernel.panel_vectors);
}
std::size_t sums_offset(const IntegerGemmKernel& kernel, std::size_t k, std::size_t n) {
  return round_up(padded_k(kernel, k) * round_up(n, kLanes), 64);
}
std::size_t a_row_bytes(const IntegerGemmKernel& kernel, std::size_t k) {
  return round_up(padded_k(kernel, k) * static_cast<std::size_t>(kernel.a_bytes), 64) +
         64;  // rows in different cache sets
}

/// One panel as [ceil(K / step)][width][step], with the columns' sums.
void pack_panel(const std::uint8_t* b, std::uint8_t flip, std::ptrdiff_t k_stride, std::ptrdiff_t n_stride,
                std::size_t k, std::size_t columns, std::size_t width, std::size_t step, std::int8_t* out,
                std::int32_t* sums) {
  for (std::size_t i = 0; i < round_up(k, step); i += step) {
    for (std::size_t j = 0; j < width; ++j) {
      for (std::size_t s = 0; s < step; ++s) {
        std::int8_t value = 0;
        if (i + s < k && j < columns) {
          const std::uint8_t byte =
              b[static_cast<std::ptrdiff_t>(i + s) * k_stride + static_cast<std::ptrdiff_t>(j) * n_stride];
          value = static_cast<std::int8_t>(byte ^ flip);
        }
        *out++ = value;
        sums[j] += value;
      }
    }
  }
}

/// Every per-row and per-column parameter of a run as plain arrays.
struct Parameters {
  std::int32_t* row_zero;
  std::int32_t* row_sum;
  float* row_scale;
  std::int32_t* column_zero;
  float* column_scale;
};

Parameters parameters_in(std::byte* memory, std::size_t m, std::size_t n) {
  const std::size_t rows = round_up(m, kLanes);
  const std::size_t columns = round_up(n, kLanes);
  Parameters p;
  p.row_zero = reinterpret_cast<std::int32_t*>(memory);
  p.row_sum = p.row_zero + rows;
  p.row_scale = reinterpret_cast<float*>(p.row_sum + rows);
  p.column_zero = reinterpret_cast<std::int32_t*>(p.row_scale + rows);
  p.column_scale = reinterpret_cast<float*>(p.column_zero + columns);
  return p;
}
std::size_t parameters_size(std::size_t m, std::size_t n) {
  return sizeof(float) * (3 * round_up(m, kLanes) + 2 * round_up(n, kLanes));
}

std::int32_t value_of(IntegerParameter p, std::size_t i) { return p.values == nullptr ? 0 : p.values[i * p.step]; }
float value_of(FloatParameter p, std::size_t i) { return p.values == nullptr ? 1.0f : p.values[i * p.step]; }

std::size_t output_bytes(IntegerOutput output) {
  return output == IntegerOutput::kInt32 || output == IntegerOutput::kFloat ? 4 : 1;
}

}  // namespace

const char* packed_integer_b_format() {
  const IntegerGemmKernel& kernel = active_kernel();
  return kernel.k_step == 4 ? "integer_b32x4_v1" : kernel.panel_vectors == 2 ? "integer_b32x2_v1" : "integer_b16x2_v1";
}

std::size_t packed_integer_b_size(std::size_t k, std::size_t n) {
  return sums_offset(active_kernel(), k, n) + round_up(n, kLanes) * sizeof(std::int32_t);
}

PackedIntegerB view_packed_integer_b(const void* packed, bool is_signed, std::size_t k, std::size_t n) {
  const auto* bytes = static_cast<const std::int8_t*>(packed);
  return {bytes, reinterpret_cast<const std::int32_t*>(bytes + sums_offset(active_kernel(), k, n)), k, n, is_signed};
}

PackedIntegerB pack_integer_b(const void* b, bool is_signed, std::ptrdiff_t k_stride, std::ptrdiff_t n_stride,
                              std::size_t k, std::size_t n, void* out, Parallel parallel) {
  const IntegerGemmKernel& kernel = active_kernel();
  auto* data = static_cast<std::int8_t*>(out);
  auto* sums = reinterpret_cast<std::int32_t*>(data + sums_offset(kernel, k, n));
  std::fill_n(sums, round_up(n, kLanes), 0);
  const std::size_t width = panel_columns(kernel);
  const std::size_t chunk = std::max<std::size_t>(1, (std::size_t{1} << 16) / std::max<std::size_t>(1, k * width));
  parallel.parallel_for(divide_up(n, width), chunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t panel = begin; panel < end; ++panel) {
      const std::size_t first = panel * width;
      const std::size_t columns = std::min(width, n - first);
      pack_panel(static_cast<const std::uint8_t*>(b) + static_cast<std::ptrdiff_t>(first) * n_stride,
                 is_signed ? 0 : 0x80, k_stride, n_stride, k, columns, round_up(columns, kLanes),
                 static_cast<std::size_t>(kernel.k_step), data + first * padded_k(kernel, k), sums + first);
    }
  });
  return view_packed_integer_b(out, is_signed, k, n);
}

std::size_t integer_gemm_workspace_size(std::size_t m, std::size_t n, std::size_t k) {
  return round_up(parameters_size(m, n), 64) + m * a_row_bytes(active_kernel(), k);
}

namespace {

/// Zero points, scales and A as the kernel takes them: A as bytes from 0, B as bytes around 0.
void prepare(std::size_t m, const IntegerA& a, const PackedIntegerB& b, IntegerParameter b_zero_point,
             const IntegerEpilogue& epilogue, const Parameters& p, std::byte* prepared_a, Parallel parallel) {
  const IntegerGemmKernel& kernel = active_kernel();
  for (std::size_t j = 0; j < b.n; ++j) {
    p.column_zero[j] = value_of(b_zero_point, j) - (b.is_signed ? 0 : 128);
    p.column_scale[j] = value_of(epilogue.column_scale, j);
  }
  const std::uint8_t flip = a.is_signed ? 0x80 : 0;
  const std::size_t row_bytes = a_row_bytes(kernel, b.k);
  const std::size_t chunk = std::max<std::size_t>(1, (std::size_t{1} << 15) / std::max<std::size_t>(b.k, 1));
  parallel.parallel_for(m, chunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto* row = static_cast<const std::uint8_t*>(a.data) + i * a.row_stride;
      const std::int32_t sum = kernel.prepare_row(row, b.k, flip, padded_k(kernel, b.k), prepared_a + i * row_bytes);
      p.row_zero[i] = value_of(a.zero_point, i) + (a.is_signed ? 128 : 0);
      p.row_sum[i] =
          static_cast<std::int32_t>(static_cast<std::uint32_t>(sum) -
                                    static_cast<std::uint32_t>(b.k) * static_cast<std::uint32_t>(p.row_zero[i]));
      p.row_scale[i] = value_of(epilogue.row_scale, i);
    }
  });
}

struct IntegerRun {
  std::size_t m;
  const PackedIntegerB& b;
  IntegerOutput output;
  void* c;
  std::size_t c_row_stride;
  const IntegerEpilogue& epilogue;
  const Parameters& p;
  const std::byte* prepared_a;

  void run_panel(std::size_t panel, std::size_t first_row, std::size_t end_row) const {
    const IntegerGemmKernel& kernel = active_kernel();
    const std::size_t width = panel_columns(kernel);
    const std::size_t column = panel * width;
    IntegerTile tile = {};
    tile.columns = std::min(width, b.n - column);
    tile.a_row_bytes = a_row_bytes(kernel, b.k);
    tile.b = b.data + column * padded_k(kernel, b.k);
    tile.steps = padded_k(kernel, b.k) / static_cast<std::size_t>(kernel.k_step);
    if (column + width < b.n) tile.next_panel = b.data + (column + width) * padded_k(kernel, b.k);
    tile.column_sum = b.column_sum + column;
    tile.column_zero = p.column_zero + column;
    tile.column_scale = p.column_scale + column;
    tile.integer_bias = epilogue.integer_bias == nullptr ? nullptr : epilogue.integer_bias + column;
    tile.bias = epilogue.bias == nullptr ? nullptr : epilogue.bias + column;
    tile.output = output;
    tile.c_row_stride = c_row_stride;
    tile.residual_stride = epilogue.residual_stride;
    tile.residual_last = epilogue.residual_after_activation;
    tile.activation = epilogue.activation == Unary::kIdentity ? nullptr : unary_function(epilogue.activation);
    tile.alpha = epilogue.alpha;
    tile.beta = epilogue.beta;
    tile.zero_point = static_cast<float>(epilogue.zero_point);
    const std::size_t rows = end_row - first_row;
    const std::size_t tiles = divide_up(rows, static_cast<std::size_t>(kernel.max_rows));
    std::size_t row = first_row;
    for (std::size_t i = 0; i < tiles; ++i) {
      const std::size_t tile_rows = rows / tiles + (i < rows % tiles ? 1 : 0);
      place_tile(tile, row, column);
      kernel.tile[tile_rows - 1][divide_up(tile.columns, kLanes) - 1](tile);
      tile.next_panel = nullptr;
      row += tile_rows;
    }
  }

  void place_tile(IntegerTile& tile, std::size_t row, std::size_t column) const {
    tile.a = prepared_a + row * tile.a_row_bytes;
    tile.row_zero = p.row_zero + row;
    tile.row_sum = p.row_sum + row;
    tile.row_scale = p.row_scale + row;
    tile.c = static_cast<std::byte*>(c) + (row * c_row_stride + column) * output_bytes(output);
    tile.residual =
        epilogue.residual == nullptr ? nullptr : epilogue.residual + row * epilogue.residual_stride + column;
  }
};

}  // namespace

void integer_gemm(std::size_t m, const IntegerA& a, const PackedIntegerB& b, IntegerParameter b_zero_point,
                  IntegerOutput output, void* c, std::size_t c_row_stride, const IntegerEpilogue& epilogue,
                  void* workspace, Parallel parallel) {
  if (m == 0 || b.n == 0) return;
  auto* memory = static_cast<std::byte*>(workspace);
  const Parameters parameters = parameters_in(memory, m, b.n);
  std::byte* prepared_a = memory + round_up(parameters_size(m, b.n), 64);
  prepare(m, a, b, b_zero_point, epilogue, parameters, prepared_a, parallel);
  const IntegerRun run{m, b, output, c, c_row_stride, epilogue, parameters, prepared_a};
  constexpr std::size_t kRowBlock = 336;  // rows of A that stay in the second-level cache beside a panel
  const std::size_t panels = divide_up(b.n, panel_columns(active_kernel()));
  const std::size_t row_blocks = divide_up(m, kRowBlock);
  const std::size_t work = std::max<std::size_t>(1, std::min(m, kRowBlock) * panel_columns(active_kernel()) * b.k);
  const std::size_t group = std::clamp<std::size_t>(divide_up(kChunkWork, work), 1, panels);
  const std::size_t groups = divide_up(panels, group);
  parallel.parallel_for(row_blocks * groups, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t first_row = i / groups * kRowBlock;
      const std::size_t first_panel = i % groups * group;
      for (std::size_t panel = first_panel; panel < std::min(panels, first_panel + group); ++panel) {
        run.run_panel(panel, first_row, std::min(m, first_row + kRowBlock));
      }
    }
  });
}

}  // namespace sardonyx::kernels
