#include <algorithm>

#include "kernels/conv/conv_paths.h"
#include "kernels/conv/conv_table.h"
#include "kernels/math/elementwise.h"

namespace sardonyx::kernels {

namespace {

constexpr std::size_t kMaxSegments = 2 * kConvLanes;  // a panel of 32 pixels of an output one pixel wide

/// C [out channels, pixels] = W [out channels, K] times the columns that each panel of pixels sees.
struct PanelsRun {
  const ConvShape& s;
  const float* x;
  const float* packed;
  float* y;
  const ConvEpilogue& epilogue;
  const GemmKernel& kernel = active_gemm_kernel();
  const ConvTable& table = conv_table();
  Activation activation = activation_of(epilogue.activation, epilogue.alpha, epilogue.beta);
  std::size_t pixels = s.out_height() * s.out_width();
  std::size_t k = group_k(s);
  std::size_t width = panel_channels(kernel);  // pixels of a panel
  bool flat = is_flat(s);

  const float* first_plane(std::size_t image, std::size_t group) const {
    return x + (image * s.in_channels + group * group_in(s)) * s.in_height * s.in_width;
  }

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
    panel.x = first_plane(image, group);
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
    panel.panel_width = round_up(count, kConvLanes);
    panel.out = out;
    table.im2col(panel);
  }

  /// Weight panels [first, end) for the pixels from `pixel` on.
  void run_panel(std::size_t image, std::size_t group, std::size_t pixel, std::size_t first, std::size_t end,
                 float* copy) const {
    GemmTile tile = {};
    tile.columns = std::min(width, pixels - pixel);
    if (flat && tile.columns == width) {  // else whole vectors would reach beyond the last plane
      tile.b = first_plane(image, group) + pixel;
      tile.b_stride = pixels;
    } else {
      build_panel(image, group, pixel, copy);
      tile.b = copy;
      tile.b_stride = round_up(tile.columns, kConvLanes);
    }
    tile.k = k;
    tile.c_row_stride = pixels;
    tile.finish = true;
    tile.scale = 1.0f;
    tile.residual_stride = pixels;
    tile.residual_last = epilogue.residual_after_activation;
    tile.activation = activation;
    tile.a_row_stride = 1;
    const std::size_t vectors = divide_up(tile.columns, kConvLanes);
    for (std::size_t i = first; i < end; ++i) {
      const WeightPanel panel = weight_panel(s, kernel, packed, group, i);
      const std::size_t tiles = divide_up(panel.count, static_cast<std::size_t>(kernel.max_rows));
      tile.a_k_stride = static_cast<std::ptrdiff_t>(panel.width);
      for (std::size_t t = 0; t < tiles; ++t) {
        const std::size_t row = part_begin(panel.count, tiles, t), rows = part_begin(panel.count, tiles, t + 1) - row;
        const std::size_t at = (image * s.out_channels + panel.first + row) * pixels + pixel;
        tile.a = panel.weights + row;
        tile.c = y + at;
        tile.row_bias = epilogue.bias == nullptr ? nullptr : epilogue.bias + panel.first + row;
        tile.residual = epilogue.residual == nullptr ? nullptr : epilogue.residual + at;
        kernel.tile[rows - 1][vectors - 1][0](tile);
      }
    }
  }
};

}  // namespace

std::size_t panels_workspace(const ConvShape& s) { return group_k(s) * panel_channels(active_gemm_kernel()); }

void run_panels(const ConvShape& s, const float* x, const float* packed, float* y, const ConvEpilogue& epilogue,
                float* workspace, Parallel parallel) {
  const PanelsRun run{s, x, packed, y, epilogue};
  const std::size_t weight_panels = panel_count(s, run.kernel);
  const std::size_t pixel_panels = divide_up(run.pixels, run.width);
  // Few pixels: split the output channels too, though each part then copies the pixels again. Else only as many
  // channels at a time as keep their weights in the cache.
  constexpr std::size_t kWeights = std::size_t{128} << 10;
  const std::size_t wanted =
      std::max(divide_up(16, s.batch * s.groups * pixel_panels), run.k * group_out(s) / kWeights);
  const std::size_t blocks = std::clamp<std::size_t>(wanted, 1, weight_panels);
  const std::size_t work = run.k * run.width * divide_up(group_out(s), blocks);
  const std::size_t chunk = std::max<std::size_t>(1, (std::size_t{1} << 20) / std::max<std::size_t>(work, 1));
  const std::size_t size = panels_workspace(s);
  const std::size_t tasks = s.batch * s.groups * blocks * pixel_panels;
  parallel.parallel_for_participants(tasks, chunk, [&](std::size_t begin, std::size_t end, int participant) {
    float* copy = workspace + size * static_cast<std::size_t>(participant);
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t block = i / pixel_panels % blocks;
      const std::size_t group = i / pixel_panels / blocks % s.groups;
      const std::size_t image = i / pixel_panels / blocks / s.groups;
      run.run_panel(image, group, i % pixel_panels * run.width, part_begin(weight_panels, blocks, block),
                    part_begin(weight_panels, blocks, block + 1), copy);
    }
  });
}

}  // namespace sardonyx::kernels
