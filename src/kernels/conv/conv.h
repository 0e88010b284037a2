#pragma once

#include <cstddef>

#include "base/thread_pool.h"
#include "kernels/math/elementwise_table.h"

namespace sardonyx::kernels {

/// A 2-D convolution in fp32 on NCHW tensors: x [batch, in_channels, in_height, in_width], weights [out_channels,
/// in_channels / groups, kernel_height, kernel_width], y [batch, out_channels, out_height(), out_width()]. A 1-D
/// convolution has height 1.
///
/// Every output is one chain of fused multiply-adds from +0 over: block of 16 input channels, kernel row, kernel
/// column, channel in the block. Taps in the padding multiply a zero, which changes nothing but where a weight is
/// infinite or NaN.
struct ConvShape {
  std::size_t batch = 1;
  std::size_t in_channels = 1, in_height = 1, in_width = 1;
  std::size_t out_channels = 1;
  std::size_t kernel_height = 1, kernel_width = 1;
  std::size_t stride_y = 1, stride_x = 1;
  std::size_t dilation_y = 1, dilation_x = 1;
  std::size_t pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;
  std::size_t groups = 1;

  /// 0 where the kernel does not fit.
  std::size_t out_height() const;
  std::size_t out_width() const;
};

/// What follows a chain, in this order, each step rounded: plus bias, plus residual, activation (or activation, plus
/// residual).
struct ConvEpilogue {
  const float* bias = nullptr;      ///< [out_channels], or null
  const float* residual = nullptr;  ///< like y, or null; may be y itself
  bool residual_after_activation = false;
  Unary activation = Unary::kIdentity;
  float alpha = 0.0f;
  float beta = 0.0f;
};

/// Name of the packing: what stored packed weights depend on besides the shape.
const char* packed_conv_weights_format();

/// Floats of the packed weights. Only channels, kernel size and groups of the shape matter.
std::size_t packed_conv_weights_size(const ConvShape& shape);
void pack_conv_weights(const ConvShape& shape, const float* weights, float* out, Parallel parallel = {});

/// Floats of workspace (64-byte aligned) for up to `max_threads` threads.
std::size_t conv_workspace_size(const ConvShape& shape, int max_threads);

/// `packed` was made for the active instruction set. y must not overlap x.
void conv(const ConvShape& shape, const float* x, const float* packed, float* y, const ConvEpilogue& epilogue,
          float* workspace, Parallel parallel = {});

}  // namespace sardonyx::kernels
