#include <algorithm>
#include <limits>

#include "kernels/conv/conv_paths.h"
#include "kernels/conv/conv_table.h"
#include "kernels/math/elementwise.h"

namespace sardonyx::kernels {

namespace {

/// The plane is copied with its borders, each row split by x modulo the stride, so that taps are contiguous.
struct DepthwiseLayout {
  std::size_t phase_width;  ///< floats of one phase of a row
  std::size_t row_stride;
  std::size_t rows;
  std::size_t size;  ///< floats of the copy, with room for a whole last vector
};

DepthwiseLayout depthwise_layout(const ConvShape& s) {
  DepthwiseLayout layout;
  const std::size_t reach = (s.kernel_width - 1) * s.dilation_x / s.stride_x + 1;
  layout.phase_width = round_up(round_up(s.out_width(), kConvLanes) + reach, kConvLanes);
  layout.row_stride = layout.phase_width * s.stride_x;
  layout.rows = (s.out_height() - 1) * s.stride_y + (s.kernel_height - 1) * s.dilation_y + 1;
  layout.size = round_up(layout.rows * layout.row_stride + kConvLanes, kConvLanes);
  return layout;
}

}  // namespace

/// The bordered copy, the result before it goes to y, and the taps' offsets.
std::size_t depthwise_workspace(const ConvShape& s) {
  const DepthwiseLayout layout = depthwise_layout(s);
  const std::size_t out = s.out_height() * s.out_width();
  return layout.size + round_up(out, kConvLanes) + round_up(2 * s.kernel_height * s.kernel_width, kConvLanes);
}

namespace {

class DepthwiseRun {
 public:
  DepthwiseRun(const ConvShape& s, const float* x, const float* weights, float* y, const ConvEpilogue& epilogue,
               float* workspace)
      : s_(s),
        x_(x),
        weights_(weights),
        y_(y),
        epilogue_(epilogue),
        copy_(workspace),
        result_(workspace + layout_.size),
        offsets_(reinterpret_cast<std::size_t*>(workspace + depthwise_workspace(s) -
                                                round_up(2 * s.kernel_height * s.kernel_width, kConvLanes))) {
    std::fill_n(copy_, layout_.size, 0.0f);  // the borders stay so for every plane
    for (std::size_t tap = 0; tap < s.kernel_height * s.kernel_width; ++tap) {
      const std::size_t column = tap % s.kernel_width * s.dilation_x;
      offsets_[tap] = tap / s.kernel_width * s.dilation_y * layout_.row_stride +
                      column % s.stride_x * layout_.phase_width + column / s.stride_x;
    }
    activation_ = activation_of(epilogue.activation, epilogue.alpha, epilogue.beta);
    const std::size_t rows = s.pad_top >= layout_.rows ? 0 : std::min(s.in_height, layout_.rows - s.pad_top);
    copied_ = {nullptr,
               rows,
               s.in_width,
               s.pad_left,
               s.stride_x,
               layout_.phase_width,
               copy_ + s.pad_top * layout_.row_stride,
               layout_.row_stride};
    plane_.rows = copy_;
    plane_.row_stride = layout_.row_stride;
    plane_.tap_offset = offsets_;
    plane_.has_bias = epilogue.bias != nullptr;
    // A residual that comes first is added to the whole plane.
    clamps_at_once_ = activation_.clamps && (epilogue.residual == nullptr || epilogue.residual_after_activation);
    plane_.low = clamps_at_once_ ? activation_.alpha : -std::numeric_limits<float>::infinity();
    plane_.high = clamps_at_once_ ? activation_.beta : std::numeric_limits<float>::infinity();
    plane_.kernel_height = s.kernel_height;
    plane_.kernel_width = s.kernel_width;
    plane_.dilation_y = s.dilation_y;
    plane_.stride_y = s.stride_y;
    plane_.out_height = s.out_height();
    plane_.out_width = plane_.out_stride = s.out_width();
  }

  void run(std::size_t plane, std::size_t channel) {
    copied_.x = x_ + plane * s_.in_height * s_.in_width;
    table_.copy_with_borders(copied_);
    float* target = y_ + plane * pixels_;
    const float* residual = epilogue_.residual == nullptr ? nullptr : epilogue_.residual + plane * pixels_;
    const bool aside = residual == target;
    plane_.weights = weights_ + channel * s_.kernel_height * s_.kernel_width;
    if (plane_.has_bias) plane_.bias = epilogue_.bias[channel];
    plane_.y = aside ? result_ : target;
    table_.depthwise(plane_);
    finish(plane_.y, residual);
    if (aside) std::copy_n(plane_.y, pixels_, target);
  }

 private:
  void finish(float* y, const float* residual) const {
    const ConvEpilogue& e = epilogue_;
    if (residual != nullptr && !e.residual_after_activation)
      binary(Binary::kAdd, Operands::kArrays, y, residual, y, pixels_);
    if (activation_.any() && !clamps_at_once_) {
      unary_function(e.activation)(y, y, pixels_, e.alpha, e.beta);
    }
    if (residual != nullptr && e.residual_after_activation)
      binary(Binary::kAdd, Operands::kArrays, y, residual, y, pixels_);
  }

  const ConvShape& s_;
  const float* x_;
  const float* weights_;
  float* y_;
  const ConvEpilogue& epilogue_;
  const ConvTable& table_ = conv_table();
  DepthwiseLayout layout_ = depthwise_layout(s_);
  std::size_t pixels_ = s_.out_height() * s_.out_width();
  Activation activation_;
  bool clamps_at_once_ = false;
  BorderedCopy copied_ = {};
  DepthwisePlane plane_ = {};
  float* copy_;
  float* result_;
  std::size_t* offsets_;
};

}  // namespace

void run_depthwise(const ConvShape& s, const float* x, const float* weights, float* y, const ConvEpilogue& epilogue,
                   float* workspace, Parallel parallel) {
  const std::size_t work = s.out_height() * s.out_width() * (s.kernel_height * s.kernel_width + 4);
  const std::size_t chunk = std::max<std::size_t>(1, (std::size_t{1} << 18) / std::max<std::size_t>(work, 1));
  const std::size_t size = depthwise_workspace(s);
  parallel.parallel_for_participants(
      s.batch * s.out_channels, chunk, [&](std::size_t begin, std::size_t end, int participant) {
        DepthwiseRun run(s, x, weights, y, epilogue, workspace + size * static_cast<std::size_t>(participant));
        for (std::size_t plane = begin; plane < end; ++plane) run.run(plane, plane % s.out_channels);
      });
}

}  // namespace sardonyx::kernels
