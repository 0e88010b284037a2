#include "provider/cpu/ops/integer_conv_gemm.h"

#include <algorithm>
#include <string>

#include "provider/cpu/ops/wide_io.h"

namespace sardonyx::provider::cpu {
namespace {

constexpr std::int64_t kTile = 128;  ///< output positions of one product

std::size_t size_of(std::int64_t n) { return static_cast<std::size_t>(n); }

std::size_t packed_group_bytes(std::int64_t depth, std::int64_t channels) {
  return align_workspace(kernels::packed_integer_b_size(size_of(depth), size_of(channels)));
}

std::size_t element_bytes(kernels::IntegerOutput output) {
  return output == kernels::IntegerOutput::kUint8 || output == kernels::IntegerOutput::kInt8 ? 1 : sizeof(std::int32_t);
}

}  // namespace

/// One thread's memory: gathered rows, their products, and what the product itself needs.
struct IntegerConvGemm::Scratch {
  std::uint8_t* rows;
  std::byte* products;
  std::byte* gemm;

  static std::size_t rows_bytes(const ConvGeometry& g) {
    return align_workspace(size_of(kTile * g.in_channels * g.taps));
  }
  static std::size_t products_bytes(const ConvGeometry& g) {
    return align_workspace(size_of(kTile * g.out_channels) * sizeof(std::int32_t));
  }
  static std::size_t gemm_bytes(const ConvGeometry& g) {
    return align_workspace(
        kernels::integer_gemm_workspace_size(size_of(kTile), size_of(g.out_channels), size_of(g.in_channels * g.taps)));
  }
  static std::size_t bytes(const ConvGeometry& g) { return rows_bytes(g) + products_bytes(g) + gemm_bytes(g); }

  Scratch(const ConvGeometry& g, std::byte* memory)
      : rows(reinterpret_cast<std::uint8_t*>(memory)),
        products(memory + rows_bytes(g)),
        gemm(products + products_bytes(g)) {}
};

bool IntegerConvGemm::pays(std::int64_t in_channels, std::int64_t out_channels, std::int64_t taps) {
  return in_channels * taps >= 16 && out_channels >= 8;
}

PackRequest IntegerConvGemm::pack_request(std::size_t input, const Tensor& weights, std::int64_t groups) {
  const Shape& w = weights.shape();
  const std::int64_t channels = w[0] / groups, depth = w.product(1, w.rank());
  const std::string packing =
      std::string("integer_conv/1/groups=") + std::to_string(groups) + "/" + kernels::packed_integer_b_format();
  return {input, packing, size_of(groups) * packed_group_bytes(depth, channels),
          [groups, channels, depth](const TensorView& view, std::byte* packed) {
            const bool is_signed = view.type == ElementType::kInt8;
            for (std::int64_t g = 0; g < groups; ++g) {
              kernels::pack_integer_b(view.bytes() + g * channels * depth, is_signed, 1, depth, size_of(depth),
                                      size_of(channels), packed + size_of(g) * packed_group_bytes(depth, channels));
            }
          }};
}

std::size_t IntegerConvGemm::workspace_bytes(const ConvGeometry& geometry, int max_threads) {
  return Scratch::bytes(geometry) * static_cast<std::size_t>(max_threads);
}

void IntegerConvGemm::run(Parallel parallel) const {
  const std::int64_t tiles = (geometry.out_size + kTile - 1) / kTile, items = geometry.batch * geometry.groups;
  if (items * tiles * geometry.out_channels == 0) return;
  parallel.max_threads = std::min(parallel.max_threads, max_threads);
  parallel.parallel_for_participants(
      size_of(items * tiles), 1, [&](std::size_t begin, std::size_t end, int participant) {
        const Scratch scratch(geometry, workspace + Scratch::bytes(geometry) * static_cast<std::size_t>(participant));
        for (auto i = static_cast<std::int64_t>(begin); i < static_cast<std::int64_t>(end); ++i)
          run_tile(i / tiles, i % tiles, scratch);
      });
}

void IntegerConvGemm::run_tile(std::int64_t item, std::int64_t tile, const Scratch& scratch) const {
  const ConvGeometry& g = geometry;
  const std::int64_t group = item % g.groups, n = item / g.groups, depth = g.in_channels * g.taps;
  const std::int64_t first = tile * kTile, count = std::min(kTile, g.out_size - first),
                     channel = group * g.out_channels;
  gather_rows(n, group, first, count, scratch.rows);
  const auto* packed = packed_weights + size_of(group) * packed_group_bytes(depth, g.out_channels);
  kernels::IntegerEpilogue own = epilogue;
  if (own.integer_bias) own.integer_bias += channel;
  if (own.column_scale.step) own.column_scale.values += channel;
  const kernels::IntegerA a{scratch.rows, x_signed, size_of(depth), {&x_zero, 0}};
  const kernels::IntegerParameter zeros{w_zeros ? w_zeros + channel : nullptr, 1};
  kernels::integer_gemm(size_of(count), a,
                        kernels::view_packed_integer_b(packed, w_signed, size_of(depth), size_of(g.out_channels)),
                        zeros, output, scratch.products, size_of(g.out_channels), own, scratch.gemm);
  // [positions, channels] → [channels, positions].
  const std::int64_t base = (n * g.groups * g.out_channels + channel) * g.out_size + first;
  const auto transpose = [&]<typename T>(const T* from, T* to) {
    for (std::int64_t m = 0; m < g.out_channels; ++m) {
      for (std::int64_t p = 0; p < count; ++p) to[base + m * g.out_size + p] = from[p * g.out_channels + m];
    }
  };
  if (element_bytes(output) == 1)
    transpose(reinterpret_cast<const std::uint8_t*>(scratch.products), static_cast<std::uint8_t*>(y));
  else
    transpose(reinterpret_cast<const std::int32_t*>(scratch.products), static_cast<std::int32_t*>(y));
}

/// Row p holds the inputs under window first + p in the weights' order; padding holds the zero point.
void IntegerConvGemm::gather_rows(std::int64_t n, std::int64_t group, std::int64_t first, std::int64_t count,
                                  std::uint8_t* rows) const {
  const ConvGeometry& g = geometry;
  const SpatialAxis& last = g.axes.back();
  const std::int64_t depth = g.in_channels * g.taps;
  const auto* data = static_cast<const std::uint8_t*>(x) + (n * g.groups + group) * g.in_channels * g.in_size;
  std::fill_n(rows, count * depth, static_cast<std::uint8_t>(x_zero));
  // Windows of the tile, one line of the output after the other.
  for (std::int64_t done = 0; done < count;) {
    const std::int64_t line = (first + done) / last.out, column = (first + done) % last.out,
                       width = std::min(count - done, last.out - column);
    for (std::int64_t outer = 0; outer < g.taps / last.kernel; ++outer) {
      const std::int64_t source = g.input_line(line, outer);
      if (source < 0) continue;
      for (std::int64_t tap = 0; tap < last.kernel; ++tap) {
        const auto [low, high] = last.inside(column, width, tap);
        const std::int64_t base = source + last.position(column, tap), k = outer * last.kernel + tap;
        for (std::int64_t p = low; p < high; ++p) {
          const std::uint8_t* from = data + base + p * last.stride;
          std::uint8_t* to = rows + (done + p) * depth + k;
          for (std::int64_t c = 0; c < g.in_channels; ++c) to[c * g.taps] = from[c * g.in_size];
        }
      }
    }
    done += width;
  }
}

}  // namespace sardonyx::provider::cpu
