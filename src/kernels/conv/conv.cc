#include "kernels/conv/conv.h"

#include <algorithm>

#include "kernels/conv/conv_table.h"
#include "kernels/gemm/gemm_kernel.h"
#include "kernels/math/elementwise.h"
#include "kernels/simd/dispatch.h"

namespace sardonyx::kernels {

SARDONYX_VARIANTS(ConvTable, kConvTable);

namespace {

constexpr std::size_t kLanes = 16;
constexpr std::size_t kChannelBlock = 16;
constexpr std::size_t kMaxSegments = 2 * kLanes;  // a panel of 32 pixels of an output one pixel wide

std::size_t divide_up(std::size_t a, std::size_t b) { return (a + b - 1) / b; }
std::size_t round_up(std::size_t n, std::size_t step) { return divide_up(n, step) * step; }

std::size_t out_size(std::size_t in, std::size_t pads, std::size_t kernel, std::size_t stride, std::size_t dilation) {
  const std::size_t extent = (kernel - 1) * dilation + 1;
  return in + pads < extent ? 0 : (in + pads - extent) / stride + 1;
}

std::size_t group_in(const ConvShape& s) { return s.in_channels / s.groups; }
std::size_t group_out(const ConvShape& s) { return s.out_channels / s.groups; }
std::size_t group_k(const ConvShape& s) { return group_in(s) * s.kernel_height * s.kernel_width; }
bool is_depthwise(const ConvShape& s) { return group_in(s) == 1 && group_out(s) == 1 && s.groups > 1; }

std::size_t panel_columns(const GemmKernel& kernel) { return kLanes * static_cast<std::size_t>(kernel.panel_vectors); }

/// Output channels of a group in tiles as even as possible: tile i of `tiles` begins here.
std::size_t tile_begin(std::size_t rows, std::size_t tiles, std::size_t i) {
  return i * (rows / tiles) + std::min(i, rows % tiles);
}
std::size_t tile_count(const GemmKernel& kernel, std::size_t rows) {
  return divide_up(rows, static_cast<std::size_t>(kernel.max_rows));
}

// --- Depthwise: the plane is copied with its borders, each row split by x modulo the stride, so that taps are contiguous.

struct DepthwiseLayout {
  std::size_t phase_width;  ///< floats of one phase of a row
  std::size_t row_stride;
  std::size_t rows;
  std::size_t size;  ///< floats of the copy, with room for a whole last vector
  bool flat;         ///< rows so short that vectors run on from one to the next, computing the border columns too
};

DepthwiseLayout depthwise_layout(const ConvShape& s) {
  DepthwiseLayout layout;
  const std::size_t reach = (s.kernel_width - 1) * s.dilation_x / s.stride_x + 1;
  layout.flat = s.stride_x == 1 && s.stride_y == 1 && s.out_width() <= kLanes / 2;
  layout.phase_width = layout.flat ? s.out_width() + reach - 1 : round_up(round_up(s.out_width(), kLanes) + reach, kLanes);
  layout.row_stride = layout.phase_width * s.stride_x;
  layout.rows = (s.out_height() - 1) * s.stride_y + (s.kernel_height - 1) * s.dilation_y + 1;
  layout.size = round_up(layout.rows * layout.row_stride + kLanes, kLanes);
  return layout;
}

/// What one thread needs: the bordered copy, the result before it goes to y, and the taps' offsets.
std::size_t depthwise_workspace(const ConvShape& s) {
  const DepthwiseLayout layout = depthwise_layout(s);
  const std::size_t out = s.out_height() * (layout.flat ? layout.row_stride : s.out_width());
  return layout.size + round_up(out, kLanes) + round_up(2 * s.kernel_height * s.kernel_width, kLanes);
}

class DepthwiseRun {
 public:
  DepthwiseRun(const ConvShape& s, const float* x, const float* weights, float* y, const ConvEpilogue& epilogue, float* workspace)
      : s_(s), x_(x), weights_(weights), y_(y), epilogue_(epilogue), copy_(workspace), result_(workspace + layout_.size),
        offsets_(reinterpret_cast<std::size_t*>(workspace + depthwise_workspace(s) -
                                                round_up(2 * s.kernel_height * s.kernel_width, kLanes))) {
    std::fill_n(copy_, layout_.size, 0.0f);  // the borders stay so for every plane
    for (std::size_t tap = 0; tap < s.kernel_height * s.kernel_width; ++tap) {
      const std::size_t column = tap % s.kernel_width * s.dilation_x;
      offsets_[tap] = tap / s.kernel_width * s.dilation_y * layout_.row_stride + column % s.stride_x * layout_.phase_width +
                      column / s.stride_x;
    }
    if (epilogue.activation != Unary::kIdentity) activation_ = unary_function(epilogue.activation);
  }

  void run(std::size_t plane) const {
    const std::size_t channel = plane % s_.out_channels;
    const std::size_t copied = s_.pad_top >= layout_.rows ? 0 : std::min(s_.in_height, layout_.rows - s_.pad_top);
    table_.copy_with_borders({x_ + plane * s_.in_height * s_.in_width, copied, s_.in_width, s_.pad_left, s_.stride_x,
                              layout_.phase_width, copy_ + s_.pad_top * layout_.row_stride, layout_.row_stride});
    float* target = y_ + plane * pixels_;
    const float* residual = epilogue_.residual == nullptr ? nullptr : epilogue_.residual + plane * pixels_;
    const bool aside = layout_.flat || residual == target;
    DepthwisePlane p = {};
    p.rows = copy_;
    p.row_stride = layout_.row_stride;
    p.tap_offset = offsets_;
    p.weights = weights_ + channel * s_.kernel_height * s_.kernel_width;
    p.has_bias = epilogue_.bias != nullptr;
    if (p.has_bias) p.bias = epilogue_.bias[channel];
    p.kernel_height = s_.kernel_height;
    p.kernel_width = s_.kernel_width;
    p.dilation_y = s_.dilation_y;
    p.stride_y = s_.stride_y;
    p.out_height = layout_.flat ? 1 : s_.out_height();
    p.out_width = layout_.flat ? (s_.out_height() - 1) * layout_.row_stride + s_.out_width() : s_.out_width();
    p.out_stride = s_.out_width();
    p.y = aside ? result_ : target;
    table_.depthwise(p);
    if (layout_.flat) drop_borders();
    finish(p.y, residual);
    if (aside) std::copy_n(p.y, pixels_, target);
  }

 private:
  /// Moves the rows of a flat result together.
  void drop_borders() const {
    for (std::size_t row = 1; row < s_.out_height(); ++row) {
      const float* from = result_ + row * layout_.row_stride;
      std::copy(from, from + s_.out_width(), result_ + row * s_.out_width());
    }
  }

  void finish(float* y, const float* residual) const {
    const ConvEpilogue& e = epilogue_;
    if (residual != nullptr && !e.residual_after_activation) binary(Binary::kAdd, Operands::kArrays, y, residual, y, pixels_);
    if (activation_ != nullptr) activation_(y, y, pixels_, e.alpha, e.beta);
    if (residual != nullptr && e.residual_after_activation) binary(Binary::kAdd, Operands::kArrays, y, residual, y, pixels_);
  }

  const ConvShape& s_;
  const float* x_;
  const float* weights_;
  float* y_;
  const ConvEpilogue& epilogue_;
  const ConvTable& table_ = kConvTableVariants.get();
  DepthwiseLayout layout_ = depthwise_layout(s_);
  std::size_t pixels_ = s_.out_height() * s_.out_width();
  UnaryFunction activation_ = nullptr;
  float* copy_;
  float* result_;
  std::size_t* offsets_;
};

void run_depthwise(const ConvShape& s, const float* x, const float* weights, float* y, const ConvEpilogue& epilogue,
                   float* workspace, Parallel parallel) {
  const std::size_t work = s.out_height() * s.out_width() * (s.kernel_height * s.kernel_width + 4);
  const std::size_t chunk = std::max<std::size_t>(1, (std::size_t{1} << 18) / std::max<std::size_t>(work, 1));
  const std::size_t size = depthwise_workspace(s);
  parallel.parallel_for_participants(s.batch * s.out_channels, chunk, [&](std::size_t begin, std::size_t end, int participant) {
    const DepthwiseRun run(s, x, weights, y, epilogue, workspace + size * static_cast<std::size_t>(participant));
    for (std::size_t plane = begin; plane < end; ++plane) run.run(plane);
  });
}

// --- General: C [out channels, pixels] = W [out channels, K] times the columns that each panel of pixels sees.

struct GeneralRun {
  const ConvShape& s;
  const float* x;
  const float* packed;
  float* y;
  const ConvEpilogue& epilogue;
  const GemmKernel& kernel = active_gemm_kernel();
  const ConvTable& table = kConvTableVariants.get();
  UnaryFunction activation = epilogue.activation == Unary::kIdentity ? nullptr : unary_function(epilogue.activation);
  std::size_t pixels = s.out_height() * s.out_width();
  std::size_t k = group_k(s);
  std::size_t width = panel_columns(kernel);
  /// A pointwise convolution sees one long row.
  bool flat = s.kernel_height == 1 && s.kernel_width == 1 && s.stride_y == 1 && s.stride_x == 1 && s.pad_top + s.pad_left == 0 &&
              s.pad_bottom + s.pad_right == 0;

  void build_panel(std::size_t image, std::size_t group, std::size_t pixel, float* out) const {
    PanelSegment segments[kMaxSegments];
    const std::size_t count = std::min(width, pixels - pixel);
    std::size_t used = 0;
    const std::size_t row_width = flat ? pixels : s.out_width();
    for (std::size_t i = 0; i < count; ++used) {
      const std::size_t oy = (pixel + i) / row_width;
      const std::size_t ox = (pixel + i) % row_width;
      PanelSegment& segment = segments[used];
      segment.first = i;
      segment.count = std::min(count - i, row_width - ox);
      segment.y = static_cast<std::ptrdiff_t>(oy * s.stride_y) - static_cast<std::ptrdiff_t>(s.pad_top);
      segment.x = static_cast<std::ptrdiff_t>(ox * s.stride_x) - static_cast<std::ptrdiff_t>(s.pad_left);
      i += segment.count;
    }
    Im2colPanel panel = {};
    panel.x = x + (image * s.in_channels + group * group_in(s)) * s.in_height * s.in_width;
    panel.channels = group_in(s);
    panel.height = flat ? 1 : s.in_height;
    panel.width = flat ? pixels : s.in_width;
    panel.kernel_height = s.kernel_height;
    panel.kernel_width = s.kernel_width;
    panel.dilation_y = static_cast<std::ptrdiff_t>(s.dilation_y);
    panel.dilation_x = static_cast<std::ptrdiff_t>(s.dilation_x);
    panel.stride_x = static_cast<std::ptrdiff_t>(s.stride_x);
    panel.segments = segments;
    panel.segment_count = used;
    panel.panel_width = round_up(count, kLanes);
    panel.out = out;
    table.im2col(panel);
  }

  void run_panel(std::size_t image, std::size_t group, std::size_t pixel, std::size_t first_tile, std::size_t end_tile,
                 const float* columns) const {
    const std::size_t rows = group_out(s);
    const std::size_t tiles = tile_count(kernel, rows);
    GemmTile tile = {};
    tile.columns = std::min(width, pixels - pixel);
    tile.b = columns;
    tile.b_stride = round_up(tile.columns, kLanes);
    tile.k = k;
    tile.c_row_stride = pixels;
    tile.finish = true;
    tile.scale = 1.0f;
    tile.residual_stride = pixels;
    tile.residual_last = epilogue.residual_after_activation && activation != nullptr;
    tile.activation = activation;
    tile.alpha = epilogue.alpha;
    tile.beta = epilogue.beta;
    for (std::size_t i = first_tile; i < end_tile; ++i) {
      const std::size_t begin = tile_begin(rows, tiles, i);
      const std::size_t tile_rows = tile_begin(rows, tiles, i + 1) - begin;
      const std::size_t channel = group * rows + begin;
      const std::size_t at = (image * s.out_channels + channel) * pixels + pixel;
      tile.a = packed + channel * k;
      tile.a_row_stride = 1;
      tile.a_k_stride = static_cast<std::ptrdiff_t>(tile_rows);
      tile.c = y + at;
      tile.row_bias = epilogue.bias == nullptr ? nullptr : epilogue.bias + channel;
      tile.residual = epilogue.residual == nullptr ? nullptr : epilogue.residual + at;
      kernel.tile[tile_rows - 1][tile.b_stride / kLanes - 1][0](tile);
    }
  }
};

}  // namespace

std::size_t ConvShape::out_height() const { return out_size(in_height, pad_top + pad_bottom, kernel_height, stride_y, dilation_y); }
std::size_t ConvShape::out_width() const { return out_size(in_width, pad_left + pad_right, kernel_width, stride_x, dilation_x); }

const char* packed_conv_weights_format() {
  switch (active_gemm_kernel().max_rows) {
    case 14: return "conv_a14_v1";
    case 6: return "conv_a6_v1";
    default: return "conv_a2_v1";
  }
}

std::size_t packed_conv_weights_size(const ConvShape& s) { return s.out_channels * group_k(s); }

void pack_conv_weights(const ConvShape& s, const float* weights, float* out, Parallel parallel) {
  const std::size_t k = group_k(s);
  if (is_depthwise(s)) {
    std::copy_n(weights, s.out_channels * k, out);
    return;
  }
  const GemmKernel& kernel = active_gemm_kernel();
  const std::size_t rows = group_out(s);
  const std::size_t tiles = tile_count(kernel, rows);
  const std::size_t taps = s.kernel_height * s.kernel_width;
  parallel.parallel_for(s.groups * tiles, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t first = i / tiles * rows + tile_begin(rows, tiles, i % tiles);
      const std::size_t count = tile_begin(rows, tiles, i % tiles + 1) - tile_begin(rows, tiles, i % tiles);
      float* to = out + first * k;
      for (std::size_t block = 0; block < group_in(s); block += kChannelBlock) {
        const std::size_t block_end = std::min(group_in(s), block + kChannelBlock);
        for (std::size_t tap = 0; tap < taps; ++tap) {
          for (std::size_t c = block; c < block_end; ++c) {
            for (std::size_t r = 0; r < count; ++r) *to++ = weights[(first + r) * k + c * taps + tap];
          }
        }
      }
    }
  });
}

std::size_t conv_workspace_size(const ConvShape& s, int max_threads) {
  const auto threads = static_cast<std::size_t>(std::max(max_threads, 1));
  const std::size_t pixels = s.out_height() * s.out_width();
  if (pixels == 0) return 0;
  if (is_depthwise(s)) return threads * depthwise_workspace(s);
  return threads * group_k(s) * panel_columns(active_gemm_kernel());
}

void conv(const ConvShape& s, const float* x, const float* packed, float* y, const ConvEpilogue& epilogue, float* workspace,
          Parallel parallel) {
  if (s.batch * s.out_channels * s.out_height() * s.out_width() == 0) return;
  if (is_depthwise(s)) return run_depthwise(s, x, packed, y, epilogue, workspace, parallel);
  const GeneralRun run{s, x, packed, y, epilogue};
  const std::size_t tiles = tile_count(run.kernel, group_out(s));
  const std::size_t panels = divide_up(run.pixels, run.width);
  // Few pixels: split the output channels too, though each part then builds the panel again.
  const std::size_t wanted = divide_up(16, s.batch * s.groups * panels);
  const std::size_t tiles_per_block = std::max(std::min<std::size_t>(tiles, 8), divide_up(tiles, wanted));
  const std::size_t blocks = divide_up(tiles, tiles_per_block);
  const std::size_t work = run.k * run.width * divide_up(group_out(s), blocks);
  const std::size_t chunk = std::max<std::size_t>(1, (std::size_t{1} << 20) / std::max<std::size_t>(work, 1));
  const std::size_t size = run.k * run.width;
  const std::size_t tasks = s.batch * s.groups * blocks * panels;
  parallel.parallel_for_participants(tasks, chunk, [&](std::size_t begin, std::size_t end, int participant) {
    float* columns = workspace + size * static_cast<std::size_t>(participant);
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t panel = i % panels;
      const std::size_t block = i / panels % blocks;
      const std::size_t group = i / panels / blocks % s.groups;
      const std::size_t image = i / panels / blocks / s.groups;
      run.build_panel(image, group, panel * run.width, columns);
      run.run_panel(image, group, panel * run.width, block * tiles_per_block, std::min(tiles, (block + 1) * tiles_per_block),
                    columns);
    }
  });
}

}  // namespace sardonyx::kernels
