#pragma once

// The ways in which conv.cc computes a convolution. All give the same bits: each output is the one chain of conv.h.

#include <algorithm>
#include <cstddef>

#include "kernels/conv/conv.h"
#include "kernels/conv/conv_table.h"
#include "kernels/gemm/gemm_kernel.h"

namespace sardonyx::kernels {

const ConvTable& conv_table();  ///< of the active instruction set

inline constexpr std::size_t kConvLanes = 16;
inline constexpr std::size_t kConvChannelBlock = 16;  ///< of the order of summation

inline std::size_t divide_up(std::size_t a, std::size_t b) { return (a + b - 1) / b; }
inline std::size_t round_up(std::size_t n, std::size_t step) { return divide_up(n, step) * step; }

inline std::size_t group_in(const ConvShape& s) { return s.in_channels / s.groups; }
inline std::size_t group_out(const ConvShape& s) { return s.out_channels / s.groups; }
inline std::size_t group_k(const ConvShape& s) { return group_in(s) * s.kernel_height * s.kernel_width; }
inline bool is_depthwise(const ConvShape& s) { return group_in(s) == 1 && group_out(s) == 1 && s.groups > 1; }
/// Every output pixel sees the input pixel of the same number: the planes may be read as one long row.
inline bool is_flat(const ConvShape& s) {
  return s.kernel_height == 1 && s.kernel_width == 1 && s.stride_y == 1 && s.stride_x == 1 &&
         s.pad_top + s.pad_left == 0 && s.pad_bottom + s.pad_right == 0;
}

/// Part i of n things in `parts` parts as even as possible begins here.
inline std::size_t part_begin(std::size_t n, std::size_t parts, std::size_t i) {
  return i * (n / parts) + std::min(i, n % parts);
}

/// Output channels of a group that share a panel of packed weights: k by k, the weights of all of them side by side.
/// The last panel of a group may be narrower; its width is a multiple of 16, with zeros behind the last channel.
inline std::size_t panel_channels(const GemmKernel& kernel) {
  return kConvLanes * static_cast<std::size_t>(kernel.panel_vectors);
}

struct WeightPanel {
  const float* weights;
  std::size_t first;  ///< output channel, counted from the first of all groups
  std::size_t count;  ///< output channels
  std::size_t width;  ///< floats from one k to the next
};
inline WeightPanel weight_panel(const ConvShape& s, const GemmKernel& kernel, const float* packed, std::size_t group,
                                std::size_t i) {
  const std::size_t rows = group_out(s), channels = panel_channels(kernel), begin = i * channels;
  const std::size_t count = std::min(channels, rows - begin);
  return {packed + group_k(s) * (group * round_up(rows, kConvLanes) + begin), group * rows + begin, count,
          round_up(count, kConvLanes)};
}
inline std::size_t panel_count(const ConvShape& s, const GemmKernel& kernel) {
  return divide_up(group_out(s), panel_channels(kernel));
}

/// One output plane after the other; each thread copies the plane's input with its borders.
std::size_t depthwise_workspace(const ConvShape& shape);  ///< floats of a thread
void run_depthwise(const ConvShape& shape, const float* x, const float* weights, float* y, const ConvEpilogue& epilogue,
                   float* workspace, Parallel parallel);

/// Rows of the micro-kernel are pixels: a thread copies a band of the input with channels innermost, and the kernel
/// walks over the pixels of an output row. Best wherever output rows are not very short.
bool suits_direct(const ConvShape& shape);
std::size_t direct_workspace(const ConvShape& shape);  ///< floats of a thread
void run_direct(const ConvShape& shape, const float* x, const float* packed, float* y, const ConvEpilogue& epilogue,
                float* workspace, Parallel parallel);

/// Rows of the micro-kernel are output channels, columns 16 or 32 pixels, whatever rows they stand in. A pointwise
/// convolution of large planes reads these in place; any other copies what the pixels see (im2col).
std::size_t panels_workspace(const ConvShape& shape);  ///< floats of a thread
void run_panels(const ConvShape& shape, const float* x, const float* packed, float* y, const ConvEpilogue& epilogue,
                float* workspace, Parallel parallel);

}  // namespace sardonyx::kernels
