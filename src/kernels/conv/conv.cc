#include "kernels/conv/conv.h"

#include <algorithm>

#include "kernels/conv/conv_paths.h"
#include "kernels/simd/dispatch.h"

namespace sardonyx::kernels {

SARDONYX_VARIANTS(ConvTable, kConvTable);

const ConvTable& conv_table() { return kConvTableVariants.get(); }

namespace {

std::size_t out_size(std::size_t in, std::size_t pads, std::size_t kernel, std::size_t stride, std::size_t dilation) {
  const std::size_t extent = (kernel - 1) * dilation + 1;
  return in + pads < extent ? 0 : (in + pads - extent) / stride + 1;
}

enum class Path { kDepthwise, kDirect, kPanels };

Path path_of(const ConvShape& s) {
  if (is_depthwise(s)) return Path::kDepthwise;
  // Of a few channels the direct way spends too much on turning its results around, if pixels fill whole panels.
  constexpr std::size_t kFewChannels = 160, kManyPixels = 512;
  const bool in_place = is_flat(s) && group_in(s) < kFewChannels && s.out_height() * s.out_width() >= kManyPixels;
  return !in_place && suits_direct(s) ? Path::kDirect : Path::kPanels;
}

}  // namespace

std::size_t ConvShape::out_height() const {
  return out_size(in_height, pad_top + pad_bottom, kernel_height, stride_y, dilation_y);
}
std::size_t ConvShape::out_width() const {
  return out_size(in_width, pad_left + pad_right, kernel_width, stride_x, dilation_x);
}

const char* packed_conv_weights_format() {
  return active_gemm_kernel().panel_vectors == 2 ? "conv_b32_v1" : "conv_b16_v1";
}

std::size_t packed_conv_weights_size(const ConvShape& s) {
  return is_depthwise(s) ? s.out_channels * group_k(s) : s.groups * round_up(group_out(s), kConvLanes) * group_k(s);
}

void pack_conv_weights(const ConvShape& s, const float* weights, float* out, Parallel parallel) {
  const std::size_t k = group_k(s);
  if (is_depthwise(s)) {
    std::copy_n(weights, s.out_channels * k, out);
    return;
  }
  const GemmKernel& kernel = active_gemm_kernel();
  const std::size_t panels = panel_count(s, kernel);
  const std::size_t taps = s.kernel_height * s.kernel_width;
  parallel.parallel_for(s.groups * panels, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const WeightPanel panel = weight_panel(s, kernel, out, i / panels, i % panels);
      float* to = out + (panel.weights - out);
      for (std::size_t block = 0; block < group_in(s); block += kConvChannelBlock) {
        const std::size_t block_end = std::min(group_in(s), block + kConvChannelBlock);
        for (std::size_t tap = 0; tap < taps; ++tap) {
          for (std::size_t c = block; c < block_end; ++c, to += panel.width) {
            for (std::size_t r = 0; r < panel.count; ++r) to[r] = weights[(panel.first + r) * k + c * taps + tap];
            std::fill(to + panel.count, to + panel.width, 0.0f);
          }
        }
      }
    }
  });
}

std::size_t conv_workspace_size(const ConvShape& s, int max_threads) {
  const auto threads = static_cast<std::size_t>(std::max(max_threads, 1));
  if (s.out_height() * s.out_width() == 0) return 0;
  switch (path_of(s)) {
    case Path::kDepthwise: return threads * depthwise_workspace(s);
    case Path::kDirect: return threads * direct_workspace(s);
    case Path::kPanels: break;
  }
  return threads * panels_workspace(s);
}

void conv(const ConvShape& s, const float* x, const float* packed, float* y, const ConvEpilogue& epilogue,
          float* workspace, Parallel parallel) {
  if (s.batch * s.out_channels * s.out_height() * s.out_width() == 0) return;
  switch (path_of(s)) {
    case Path::kDepthwise: return run_depthwise(s, x, packed, y, epilogue, workspace, parallel);
    case Path::kDirect: return run_direct(s, x, packed, y, epilogue, workspace, parallel);
    case Path::kPanels: return run_panels(s, x, packed, y, epilogue, workspace, parallel);
  }
}

}  // namespace sardonyx::kernels
