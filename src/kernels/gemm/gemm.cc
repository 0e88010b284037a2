#include "kernels/gemm/gemm.h"

#include <algorithm>
#include <cstring>

#include "base/cpu_info.h"
#include "kernels/gemm/gemm_kernel.h"
#include "kernels/math/elementwise.h"
#include "kernels/simd/dispatch.h"

namespace sardonyx::kernels {

SARDONYX_VARIANTS(GemmKernel, kGemmKernel);

namespace {

constexpr std::size_t kLanes = 16;
constexpr std::size_t kChunkWork = std::size_t{1} << 20;  // multiply-adds per task, some 20 microseconds

std::size_t divide_up(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

std::size_t panel_columns(const GemmKernel& kernel) { return kLanes * static_cast<std::size_t>(kernel.panel_vectors); }

/// Vectors of 16 columns that panel `panel` of n columns has: the last may be narrower.
std::size_t vectors_of_panel(const GemmKernel& kernel, std::size_t n, std::size_t panel) {
  const std::size_t columns = std::min(n - panel * panel_columns(kernel), panel_columns(kernel));
  return divide_up(columns, kLanes);
}

void pack_panel(const GemmKernel& kernel, const float* b, std::ptrdiff_t k_stride, std::ptrdiff_t n_stride, std::size_t k, std::size_t columns,
                std::size_t width, float* out) {
  if (n_stride == 1) {
    for (std::size_t i = 0; i < k; ++i) {
      const float* row = b + static_cast<std::ptrdiff_t>(i) * k_stride;
      std::copy_n(row, columns, out + i * width);
      std::fill_n(out + i * width + columns, width - columns, 0.0f);
    }
    return;
  }
  if (k_stride == 1) return kernel.pack_transposed(b, n_stride, k, columns, width, out);
  constexpr std::size_t kBlock = 16;  // one cache line of every column at a time
  for (std::size_t begin = 0; begin < k; begin += kBlock) {
    const std::size_t end = std::min(k, begin + kBlock);
    for (std::size_t j = 0; j < width; ++j) {
      const float* column = b + static_cast<std::ptrdiff_t>(j) * n_stride;
      for (std::size_t i = begin; i < end; ++i) {
        out[i * width + j] = j < columns ? column[static_cast<std::ptrdiff_t>(i) * k_stride] : 0.0f;
      }
    }
  }
}

void pack_panels(const GemmKernel& kernel, const float* b, std::ptrdiff_t k_stride, std::ptrdiff_t n_stride, std::size_t k,
                 std::size_t n, float* out, Parallel parallel) {
  const std::size_t width = panel_columns(kernel);
  const std::size_t chunk = std::max<std::size_t>(1, (std::size_t{1} << 16) / std::max<std::size_t>(1, k * width));
  parallel.parallel_for(divide_up(n, width), chunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t panel = begin; panel < end; ++panel) {
      const std::size_t first = panel * width;
      pack_panel(kernel, b + static_cast<std::ptrdiff_t>(first) * n_stride, k_stride, n_stride, k, std::min(width, n - first),
                 kLanes * vectors_of_panel(kernel, n, panel), out + first * k);
    }
  });
}

/// Where the columns of B come from: packed panels, or row-major B in place (stride > 0) with only its last, partial panel
/// packed.
struct Panels {
  const float* data;
  std::size_t k;
  std::size_t n;
  const float* in_place = nullptr;
  std::size_t in_place_stride = 0;
};

struct Blocking {
  std::size_t rows;  ///< rows of A whose whole width stays in the second-level cache
  std::size_t k;     ///< so that a panel stays there too
};

Blocking choose_blocking(const GemmKernel& kernel, std::size_t m, std::size_t k, bool whole_k) {
  const auto tile_rows = static_cast<std::size_t>(kernel.max_rows);
  if (m <= tile_rows || k == 0) return {m, k};
  const std::size_t l2_floats = cache_sizes().l2 / sizeof(float);
  Blocking blocking{m, k};
  if (!whole_k && k * panel_columns(kernel) > l2_floats / 2) {
    const std::size_t most = std::max<std::size_t>(256, l2_floats / 4 / panel_columns(kernel));
    blocking.k = divide_up(divide_up(k, divide_up(k, most)), kLanes) * kLanes;
  }
  const std::size_t most_rows = std::max(4 * tile_rows, l2_floats / 2 / blocking.k / tile_rows * tile_rows);
  blocking.rows = divide_up(m, divide_up(m, most_rows));
  return blocking;
}

class GemmRun {
 public:
  GemmRun(std::size_t m, const GemmA& a, const Panels& b, float* c, std::size_t c_row_stride, const GemmEpilogue& epilogue)
      : kernel_(kGemmKernelVariants.get()), m_(m), a_(a), b_(b), c_(c), c_row_stride_(c_row_stride), epilogue_(epilogue) {
    // Blocks of K keep their sums in C, which must not be the residual then.
    blocking_ = choose_blocking(kernel_, m, b.k, epilogue.residual == c);
    if (epilogue.activation != Unary::kIdentity) activation_ = unary_function(epilogue.activation);
  }

  void run(Parallel parallel) const {
    const std::size_t panels = divide_up(b_.n, panel_columns(kernel_));
    const std::size_t row_blocks = divide_up(m_, blocking_.rows);
    const std::size_t work = std::max<std::size_t>(1, blocking_.rows * panel_columns(kernel_) * b_.k);
    const std::size_t group = std::clamp<std::size_t>(divide_up(kChunkWork, work), 1, panels);
    const std::size_t groups = divide_up(panels, group);
    parallel.parallel_for(row_blocks * groups, 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const std::size_t first_panel = i % groups * group;
        run_block(i / groups * blocking_.rows, first_panel, std::min(panels, first_panel + group), panels);
      }
    });
  }

 private:
  void run_block(std::size_t first_row, std::size_t first_panel, std::size_t end_panel, std::size_t panels) const {
    const std::size_t end_row = std::min(m_, first_row + blocking_.rows);
    for (std::size_t k = 0; k < b_.k || k == 0; k += std::max<std::size_t>(blocking_.k, 1)) {
      const std::size_t block_k = std::min(blocking_.k, b_.k - k);
      for (std::size_t panel = first_panel; panel < end_panel; ++panel) {
        run_panel(first_row, end_row, panel, panel + 1 < panels, k, block_k);
      }
    }
  }

  void run_panel(std::size_t first_row, std::size_t end_row, std::size_t panel, bool more, std::size_t k,
                 std::size_t block_k) const {
    const std::size_t width = panel_columns(kernel_);
    const std::size_t column = panel * width;
    const std::size_t vectors = vectors_of_panel(kernel_, b_.n, panel);
    GemmTile tile = {};
    tile.columns = std::min(width, b_.n - column);
    tile.b_stride = vectors * kLanes;
    tile.b = b_.data + column * b_.k + k * tile.b_stride;
    if (b_.in_place != nullptr && tile.columns == width) {
      tile.b_stride = b_.in_place_stride;
      tile.b = b_.in_place + column + k * tile.b_stride;
      more = false;
    }
    const std::size_t next_width = more ? kLanes * vectors_of_panel(kernel_, b_.n, panel + 1) : 0;
    const float* next_panel = b_.data + (column + width) * b_.k + k * next_width;
    tile.k = block_k;
    tile.a_row_stride = a_.row_stride;
    tile.a_k_stride = a_.k_stride;
    tile.c_row_stride = c_row_stride_;
    tile.load_c = k != 0;
    tile.finish = k + block_k == b_.k;
    set_epilogue(tile);
    const std::size_t rows = end_row - first_row;
    const std::size_t tiles = divide_up(rows, static_cast<std::size_t>(kernel_.max_rows));
    // Every tile fetches its part of the next panel, so that reading memory takes as long as the arithmetic. A panel of one
    // tile fetches a shorter way ahead: the columns that follow lie behind it.
    constexpr std::size_t kAhead = std::size_t{32} << 10;
    const std::size_t ahead = std::min(kAhead, block_k * tile.b_stride * sizeof(float));
    tile.prefetch_step = next_width * sizeof(float) / tiles;
    const int lines = !more || tile.prefetch_step == 0 ? 0 : tile.prefetch_step <= 64 ? 1 : 2;
    std::size_t row = first_row;
    for (std::size_t i = 0; i < tiles; ++i) {  // rows are split evenly: 16 as 8 + 8
      const std::size_t tile_rows = rows / tiles + (i < rows % tiles ? 1 : 0);
      place_tile(tile, row, column, k);
      tile.prefetch = reinterpret_cast<const char*>(next_panel) + i * tile.prefetch_step * block_k;
      if (tiles == 1) tile.prefetch = reinterpret_cast<const char*>(tile.b) + ahead;
      kernel_.tile[tile_rows - 1][vectors - 1][lines](tile);
      row += tile_rows;
    }
  }

  void set_epilogue(GemmTile& tile) const {
    tile.scale = epilogue_.scale;
    tile.residual_stride = epilogue_.residual_stride;
    tile.residual_last = epilogue_.residual_after_activation && activation_ != nullptr;
    tile.activation = activation_;
    tile.alpha = epilogue_.alpha;
    tile.beta = epilogue_.beta;
  }

  void place_tile(GemmTile& tile, std::size_t row, std::size_t column, std::size_t k) const {
    tile.a = a_.data + static_cast<std::ptrdiff_t>(row) * a_.row_stride + static_cast<std::ptrdiff_t>(k) * a_.k_stride;
    tile.c = c_ + row * c_row_stride_ + column;
    tile.bias = epilogue_.bias == nullptr ? nullptr : epilogue_.bias + column;
    tile.row_bias = epilogue_.row_bias == nullptr ? nullptr : epilogue_.row_bias + row;
    tile.residual = epilogue_.residual == nullptr ? nullptr : epilogue_.residual + row * epilogue_.residual_stride + column;
  }

  const GemmKernel& kernel_;
  std::size_t m_;
  GemmA a_;
  Panels b_;
  float* c_;
  std::size_t c_row_stride_;
  const GemmEpilogue& epilogue_;
  Blocking blocking_{};
  UnaryFunction activation_ = nullptr;
};

/// Rows a multiple of 2 KiB apart share one or two sets of the first-level cache, which a tile's rows then overflow.
bool rows_collide(std::size_t m, std::size_t k, std::ptrdiff_t row_stride) {
  constexpr std::ptrdiff_t kFloats = 2048 / sizeof(float);
  return m > 4 && k >= kFloats && row_stride % kFloats == 0;
}

/// A copied to rows that do not collide.
GemmA spread_rows(std::size_t m, std::size_t k, const GemmA& a, float* workspace, Parallel parallel) {
  const std::size_t stride = k + kLanes;
  parallel.parallel_for(m, std::max<std::size_t>(1, (std::size_t{1} << 16) / k), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) std::copy_n(a.data + static_cast<std::ptrdiff_t>(i) * a.row_stride, k, workspace + i * stride);
  });
  return {workspace, static_cast<std::ptrdiff_t>(stride), 1};
}

float finish_element(const GemmEpilogue& e, UnaryFunction activation, float value, std::size_t row) {
  if (e.scale != 1.0f) value *= e.scale;
  if (e.bias != nullptr) value += e.bias[0];
  if (e.row_bias != nullptr) value += e.row_bias[row];
  const float residual = e.residual == nullptr ? 0.0f : e.residual[row * e.residual_stride];
  if (e.residual != nullptr && !e.residual_after_activation) value += residual;
  if (activation != nullptr) activation(&value, &value, 1, e.alpha, e.beta);
  if (e.residual != nullptr && e.residual_after_activation) value += residual;
  return value;
}

/// A constant column: every row of A is a dot product by lanes.
void gemm_one_column(std::size_t m, const GemmA& a, const PackedB& b, float* c, std::size_t c_row_stride,
                     const GemmEpilogue& epilogue, Parallel parallel) {
  const GemmKernel& kernel = kGemmKernelVariants.get();
  const UnaryFunction activation = epilogue.activation == Unary::kIdentity ? nullptr : unary_function(epilogue.activation);
  const std::size_t chunk = std::max<std::size_t>(1, (std::size_t{1} << 17) / std::max<std::size_t>(b.k, 1));
  parallel.parallel_for(m, chunk, [&](std::size_t begin, std::size_t end) {
    constexpr std::size_t kBlock = 4096;  // the lane rule's
    float gathered[kBlock];
    for (std::size_t row = begin; row < end; ++row) {
      const float* x = a.data + static_cast<std::ptrdiff_t>(row) * a.row_stride;
      float sum = 0.0f;
      if (a.k_stride == 1) {
        sum = kernel.dot(x, b.data, b.k);
      } else {
        for (std::size_t k = 0; k < b.k; k += kBlock) {
          const std::size_t count = std::min(kBlock, b.k - k);
          for (std::size_t i = 0; i < count; ++i) gathered[i] = x[static_cast<std::ptrdiff_t>(k + i) * a.k_stride];
          const float block = kernel.dot(gathered, b.data + k, count);
          sum = k == 0 ? block : sum + block;
        }
      }
      c[row * c_row_stride] = finish_element(epilogue, activation, sum, row);
    }
  });
}

}  // namespace

const GemmKernel& active_gemm_kernel() { return kGemmKernelVariants.get(); }

const char* packed_b_format() { return kGemmKernelVariants.get().panel_vectors == 2 ? "gemm_b32_v1" : "gemm_b16_v1"; }

std::size_t packed_b_size(std::size_t k, std::size_t n) { return n == 1 ? k : k * (divide_up(n, kLanes) * kLanes); }

PackedB pack_b(const float* b, std::ptrdiff_t k_stride, std::ptrdiff_t n_stride, std::size_t k, std::size_t n, float* out,
               Parallel parallel) {
  if (n == 1) {
    for (std::size_t i = 0; i < k; ++i) out[i] = b[static_cast<std::ptrdiff_t>(i) * k_stride];
  } else {
    pack_panels(kGemmKernelVariants.get(), b, k_stride, n_stride, k, n, out, parallel);
  }
  return {out, k, n};
}

std::size_t gemm_workspace_size(std::size_t m, std::size_t, std::size_t k) {
  return rows_collide(m, k, static_cast<std::ptrdiff_t>(k)) ? m * (k + kLanes) : 0;
}

void gemm(std::size_t m, GemmA a, const PackedB& b, float* c, std::size_t c_row_stride, const GemmEpilogue& epilogue,
          float* workspace, Parallel parallel) {
  if (m == 0 || b.n == 0) return;
  if (b.n == 1) return gemm_one_column(m, a, b, c, c_row_stride, epilogue, parallel);
  if (rows_collide(m, b.k, static_cast<std::ptrdiff_t>(b.k)) && a.k_stride == 1) {
    a = spread_rows(m, b.k, a, workspace, parallel);
  }
  GemmRun(m, a, {b.data, b.k, b.n}, c, c_row_stride, epilogue).run(parallel);
}

std::size_t gemm_unpacked_workspace_size(std::size_t m, std::size_t n, std::size_t k) {
  return k * (divide_up(n, kLanes) * kLanes) + gemm_workspace_size(m, n, k);
}

void gemm_unpacked(std::size_t m, std::size_t n, std::size_t k, GemmA a, const float* b, std::ptrdiff_t b_k_stride,
                   std::ptrdiff_t b_n_stride, float* c, std::size_t c_row_stride, const GemmEpilogue& epilogue,
                   float* workspace, Parallel parallel) {
  if (m == 0 || n == 0) return;
  const GemmKernel& kernel = kGemmKernelVariants.get();
  Panels panels{workspace, k, n};
  if (b_n_stride == 1 && m <= 2 * static_cast<std::size_t>(kernel.max_rows) && b_k_stride > 0) {
    // Too few rows to pay for packing: read B where it lies. The last columns are packed, since their full width may not exist.
    panels.in_place = b;
    panels.in_place_stride = static_cast<std::size_t>(b_k_stride);
    const std::size_t width = panel_columns(kernel);
    const std::size_t whole = n / width * width;
    if (whole < n) {
      pack_panels(kernel, b + whole, b_k_stride, 1, k, n - whole, workspace + whole * k, parallel);
    }
  } else {
    pack_panels(kernel, b, b_k_stride, b_n_stride, k, n, workspace, parallel);
  }
  if (rows_collide(m, k, static_cast<std::ptrdiff_t>(k)) && a.k_stride == 1) {
    a = spread_rows(m, k, a, workspace + k * (divide_up(n, kLanes) * kLanes), parallel);
  }
  GemmRun(m, a, panels, c, c_row_stride, epilogue).run(parallel);
}

}  // namespace sardonyx::kernels
