#pragma once

// How gemm() and its relatives walk over panels and rows. Internal to gemm/.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/cpu_info.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/gemm_kernel.h"
#include "kernels/math/elementwise.h"
#include "kernels/quant/quant_table.h"

namespace sardonyx::kernels::gemm_internal {

inline constexpr std::size_t kLanes = 16;
inline constexpr std::size_t kChunkWork = std::size_t{1} << 20;  // multiply-adds per task, some 20 microseconds

inline std::size_t divide_up(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

inline std::size_t panel_columns(const GemmKernel& kernel) {
  return kLanes * static_cast<std::size_t>(kernel.panel_vectors);
}

/// Vectors of 16 columns that panel `panel` of n columns has: the last may be narrower.
inline std::size_t vectors_of_panel(const GemmKernel& kernel, std::size_t n, std::size_t panel) {
  const std::size_t columns = std::min(n - panel * panel_columns(kernel), panel_columns(kernel));
  return divide_up(columns, kLanes);
}

/// Rows a multiple of 2 KiB apart share one or two sets of the first-level cache, which a tile's rows then overflow.
bool rows_collide(std::size_t m, std::size_t k, std::ptrdiff_t row_stride);
/// A, whose rows lie k apart, copied to rows that do not collide: m * (k + kLanes) floats of workspace.
GemmA spread_rows(std::size_t m, std::size_t k, const GemmA& a, float* workspace, Parallel parallel);

/// Panels of bytes that are made floats just before they are used, in memory of the thread's own.
struct QuantizedPanels {
  const std::int8_t* data;
  const float* scale;  ///< [blocks, n padded to 16]
  const float* zero;
  std::size_t block_rows;
  float* scratch;            ///< for every participant
  std::size_t scratch_size;  ///< floats of one
  const QuantTable* table;
};

/// Where the columns of B come from: packed panels, or row-major B in place (stride > 0) with only its last, partial
/// panel packed.
struct Panels {
  const float* data;
  std::size_t k;
  std::size_t n;
  const float* in_place = nullptr;
  std::size_t in_place_stride = 0;
  const QuantizedPanels* quantized = nullptr;
};

struct Blocking {
  std::size_t rows;  ///< rows of A whose whole width stays in the second-level cache
  std::size_t k;     ///< so that a panel stays there too
};

inline Blocking choose_blocking(const GemmKernel& kernel, std::size_t m, std::size_t k, bool whole_k) {
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
  GemmRun(std::size_t m, const GemmA& a, const Panels& b, float* c, std::size_t c_row_stride,
          const GemmEpilogue& epilogue)
      : kernel_(active_gemm_kernel()), m_(m), a_(a), b_(b), c_(c), c_row_stride_(c_row_stride), epilogue_(epilogue) {
    // Blocks of K keep their sums in C, which must not be the residual then.
    blocking_ = choose_blocking(kernel_, m, b.k, epilogue.residual == c || b.quantized != nullptr);
    activation_ = activation_of(epilogue.activation, epilogue.alpha, epilogue.beta);
  }

  void run(Parallel parallel) const {
    const std::size_t panels = divide_up(b_.n, panel_columns(kernel_));
    const std::size_t row_blocks = divide_up(m_, blocking_.rows);
    const std::size_t work = std::max<std::size_t>(1, blocking_.rows * panel_columns(kernel_) * b_.k);
    const std::size_t group = std::clamp<std::size_t>(divide_up(kChunkWork, work), 1, panels);
    const std::size_t groups = divide_up(panels, group);
    parallel.parallel_for_participants(row_blocks * groups, 1,
                                       [&](std::size_t begin, std::size_t end, int participant) {
                                         for (std::size_t i = begin; i < end; ++i) {
                                           const std::size_t first_panel = i % groups * group;
                                           run_block(i / groups * blocking_.rows, first_panel,
                                                     std::min(panels, first_panel + group), panels, participant);
                                         }
                                       });
  }

 private:
  void run_block(std::size_t first_row, std::size_t first_panel, std::size_t end_panel, std::size_t panels,
                 int participant) const {
    const std::size_t end_row = std::min(m_, first_row + blocking_.rows);
    for (std::size_t k = 0; k < b_.k || k == 0; k += std::max<std::size_t>(blocking_.k, 1)) {
      const std::size_t block_k = std::min(blocking_.k, b_.k - k);
      std::size_t panel = first_panel;
      if (takes_row_panels()) {
        const std::size_t full = std::min(end_panel, b_.n / panel_columns(kernel_));
        for (; panel + kGemmRowPanels <= full; panel += kGemmRowPanels) run_row(first_row, panel, k, block_k);
      }
      for (; panel < end_panel; ++panel) {
        run_panel(first_row, end_row, panel, panel + 1 < panels, k, block_k, participant);
      }
    }
  }

  /// A single row and weights that the caches hold: larger ones are bound by memory, and better read panel by panel.
  bool takes_row_panels() const {
    constexpr std::size_t kMostFloats = std::size_t{1} << 18;
    return m_ == 1 && b_.in_place == nullptr && b_.quantized == nullptr && b_.n * b_.k <= kMostFloats;
  }

  void run_row(std::size_t row, std::size_t panel, std::size_t k, std::size_t block_k) const {
    const std::size_t width = panel_columns(kernel_);
    GemmTile tile = tile_of_block(k, block_k);
    tile.columns = width;
    tile.b_stride = width;
    tile.b = b_.data + panel * width * b_.k + k * width;
    place_tile(tile, row, panel * width, k);
    kernel_.row(tile, width * b_.k);
  }

  void run_panel(std::size_t first_row, std::size_t end_row, std::size_t panel, bool more, std::size_t k,
                 std::size_t block_k, int participant) const {
    const std::size_t width = panel_columns(kernel_);
    const std::size_t column = panel * width;
    const std::size_t vectors = vectors_of_panel(kernel_, b_.n, panel);
    GemmTile tile = tile_of_block(k, block_k);
    tile.columns = std::min(width, b_.n - column);
    tile.b_stride = vectors * kLanes;
    tile.b = b_.data + column * b_.k + k * tile.b_stride;
    if (b_.in_place != nullptr && tile.columns == width) {
      tile.b_stride = b_.in_place_stride;
      tile.b = b_.in_place + column + k * tile.b_stride;
      more = false;
    }
    // What the next panel is read from: so many bytes for every k.
    const std::size_t next_width = more ? kLanes * vectors_of_panel(kernel_, b_.n, panel + 1) : 0;
    std::size_t next_bytes = next_width * sizeof(float);
    const char* next_panel = reinterpret_cast<const char*>(b_.data + (column + width) * b_.k + k * next_width);
    if (b_.quantized != nullptr) {
      tile.b = dequantize(column, tile.b_stride, participant);
      next_bytes = next_width;
      next_panel = reinterpret_cast<const char*>(b_.quantized->data + (column + width) * b_.k);
    }
    const std::size_t rows = end_row - first_row;
    const std::size_t tiles = divide_up(rows, static_cast<std::size_t>(kernel_.max_rows));
    // Every tile fetches its part of the next panel, so that reading memory takes as long as the arithmetic. A panel of
    // one tile fetches a shorter way ahead: the columns that follow lie behind it.
    constexpr std::size_t kAhead = std::size_t{32} << 10;
    const std::size_t ahead = std::min(kAhead, block_k * tile.b_stride * sizeof(float));
    tile.prefetch_step = next_bytes / tiles;
    const int lines = !more || tile.prefetch_step == 0 ? 0 : tile.prefetch_step <= 64 ? 1 : 2;
    std::size_t row = first_row;
    for (std::size_t i = 0; i < tiles; ++i) {  // rows are split evenly: 16 as 8 + 8
      const std::size_t tile_rows = rows / tiles + (i < rows % tiles ? 1 : 0);
      place_tile(tile, row, column, k);
      tile.prefetch = next_panel + i * tile.prefetch_step * block_k;
      if (tiles == 1 && b_.quantized == nullptr) tile.prefetch = reinterpret_cast<const char*>(tile.b) + ahead;
      kernel_.tile[tile_rows - 1][vectors - 1][lines](tile);
      row += tile_rows;
    }
  }

  /// The panel that begins at `column`, as floats.
  const float* dequantize(std::size_t column, std::size_t panel_width, int participant) const {
    const QuantizedPanels& q = *b_.quantized;
    float* out = q.scratch + q.scratch_size * static_cast<std::size_t>(participant);
    q.table->dequantize_panel(q.data + column * b_.k, b_.k, panel_width, q.block_rows, q.scale + column,
                              q.zero + column, divide_up(b_.n, kLanes) * kLanes, out);
    return out;
  }

  /// What all tiles of a block of K have in common.
  GemmTile tile_of_block(std::size_t k, std::size_t block_k) const {
    GemmTile tile = {};
    tile.k = block_k;
    tile.a_row_stride = a_.row_stride;
    tile.a_k_stride = a_.k_stride;
    tile.c_row_stride = c_row_stride_;
    tile.load_c = k != 0;
    tile.finish = k + block_k == b_.k;
    tile.scale = epilogue_.scale;
    tile.residual_stride = epilogue_.residual_stride;
    tile.residual_last = epilogue_.residual_after_activation;
    tile.activation = activation_;
    return tile;
  }

  void place_tile(GemmTile& tile, std::size_t row, std::size_t column, std::size_t k) const {
    tile.a = a_.data + static_cast<std::ptrdiff_t>(row) * a_.row_stride + static_cast<std::ptrdiff_t>(k) * a_.k_stride;
    tile.c = c_ + row * c_row_stride_ + column;
    tile.bias = epilogue_.bias == nullptr ? nullptr : epilogue_.bias + column;
    tile.row_bias = epilogue_.row_bias == nullptr ? nullptr : epilogue_.row_bias + row;
    tile.residual =
        epilogue_.residual == nullptr ? nullptr : epilogue_.residual + row * epilogue_.residual_stride + column;
  }

  const GemmKernel& kernel_;
  std::size_t m_;
  GemmA a_;
  Panels b_;
  float* c_;
  std::size_t c_row_stride_;
  const GemmEpilogue& epilogue_;
  Blocking blocking_{};
  Activation activation_;
};

}  // namespace sardonyx::kernels::gemm_internal
