#include "kernels/gemm/weight_gemm.h"

#include <algorithm>

#include "kernels/gemm/gemm_run.h"
#include "kernels/quant/quant.h"

namespace sardonyx::kernels {
namespace {

using namespace gemm_internal;

std::size_t padded(std::size_t n) { return divide_up(n, kLanes) * kLanes; }
std::size_t blocks_of(std::size_t k, std::size_t block_rows) { return k == 0 ? 1 : divide_up(k, block_rows); }
std::size_t rows_of_block(std::size_t k, std::size_t block_rows) {
  return block_rows == 0 ? std::max<std::size_t>(k, 1) : block_rows;
}
std::size_t parameters_offset(std::size_t k, std::size_t n) { return divide_up(k * padded(n), 64) * 64; }

void pack_parameters(const WeightSource& s, std::size_t block_rows, float* scale, float* zero) {
  for (std::size_t block = 0; block < blocks_of(s.k, block_rows); ++block) {
    for (std::size_t j = 0; j < padded(s.n); ++j, ++scale, ++zero) {
      const std::ptrdiff_t at =
          static_cast<std::ptrdiff_t>(block) * s.block_stride + static_cast<std::ptrdiff_t>(j) * s.column_stride;
      *scale = j < s.n ? s.scale[at] : 0.0f;
      *zero = j < s.n && s.zero_point != nullptr ? static_cast<float>(s.zero_point[at]) : 0.0f;
      if (!s.is_signed) *zero -= 128.0f;  // stored bytes are w - 128
    }
  }
}

}  // namespace

const char* packed_weights_format() {
  return active_gemm_kernel().panel_vectors == 2 ? "weights_b32_v1" : "weights_b16_v1";
}

std::size_t packed_weights_size(std::size_t k, std::size_t n, std::size_t block_rows) {
  return parameters_offset(k, n) + 2 * sizeof(float) * blocks_of(k, rows_of_block(k, block_rows)) * padded(n);
}

PackedWeights view_packed_weights(const void* packed, std::size_t k, std::size_t n, std::size_t block_rows) {
  const auto* bytes = static_cast<const std::int8_t*>(packed);
  block_rows = rows_of_block(k, block_rows);
  const auto* scale = reinterpret_cast<const float*>(bytes + parameters_offset(k, n));
  return {bytes, scale, scale + blocks_of(k, block_rows) * padded(n), k, n, block_rows};
}

PackedWeights pack_weights(const WeightSource& s, void* out, Parallel parallel) {
  const PackedWeights view = view_packed_weights(out, s.k, s.n, s.block_rows);
  pack_parameters(s, view.block_rows, const_cast<float*>(view.scale), const_cast<float*>(view.zero));
  const std::size_t width = panel_columns(active_gemm_kernel());
  const std::uint8_t flip = s.is_signed ? 0 : 0x80;
  const std::size_t chunk = std::max<std::size_t>(1, (std::size_t{1} << 16) / std::max<std::size_t>(1, s.k * width));
  parallel.parallel_for(divide_up(s.n, width), chunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t panel = begin; panel < end; ++panel) {
      const std::size_t first = panel * width;
      const std::size_t columns = std::min(width, s.n - first);
      auto* to = static_cast<std::int8_t*>(out) + first * s.k;
      const auto* from = static_cast<const std::uint8_t*>(s.data) + static_cast<std::ptrdiff_t>(first) * s.n_stride;
      for (std::size_t i = 0; i < s.k; ++i) {
        for (std::size_t j = 0; j < padded(columns); ++j) {
          const std::ptrdiff_t at =
              static_cast<std::ptrdiff_t>(i) * s.k_stride + static_cast<std::ptrdiff_t>(j) * s.n_stride;
          *to++ = j < columns ? static_cast<std::int8_t>(from[at] ^ flip) : std::int8_t{0};
        }
      }
    }
  });
  return view;
}

std::size_t weight_gemm_workspace_size(std::size_t m, std::size_t k, int max_threads) {
  const std::size_t spread = divide_up(gemm_workspace_size(m, 0, k), kLanes) * kLanes;
  return spread + static_cast<std::size_t>(std::max(max_threads, 1)) * k * panel_columns(active_gemm_kernel());
}

void weight_gemm(std::size_t m, GemmA a, const PackedWeights& b, float* c, std::size_t c_row_stride,
                 const GemmEpilogue& epilogue, float* workspace, Parallel parallel) {
  if (m == 0 || b.n == 0) return;
  if (rows_collide(m, b.k, static_cast<std::ptrdiff_t>(b.k)) && a.k_stride == 1)
    a = spread_rows(m, b.k, a, workspace, parallel);
  workspace += divide_up(gemm_workspace_size(m, 0, b.k), kLanes) * kLanes;
  const QuantizedPanels quantized{b.data,
                                  b.scale,
                                  b.zero,
                                  b.block_rows,
                                  workspace,
                                  b.k * panel_columns(active_gemm_kernel()),
                                  &active_quant_table()};
  Panels panels{workspace, b.k, b.n};  // not read: every panel is made from bytes
  panels.quantized = &quantized;
  GemmRun(m, a, panels, c, c_row_stride, epilogue).run(parallel);
}

}  // namespace sardonyx::kernels
