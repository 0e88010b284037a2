#include "kernels/conv/conv.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <vector>

#include "base/aligned.h"
#include "kernels/math/elementwise.h"
#include "kernels/simd/isa_test_util.h"

namespace sardonyx::kernels {
namespace {

std::vector<float> random_floats(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(n);
  for (float& value : values) value = static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 311.0f;
  return values;
}

struct Case {
  const char* name;
  ConvShape shape;
};

ConvShape make(std::size_t batch, std::size_t ic, std::size_t h, std::size_t w, std::size_t oc, std::size_t kh,
               std::size_t kw, std::size_t groups = 1, std::size_t sy = 1, std::size_t sx = 1, std::size_t dy = 1,
               std::size_t dx = 1, std::size_t top = 0, std::size_t left = 0, std::size_t bottom = 0,
               std::size_t right = 0) {
  ConvShape s;
  s.batch = batch;
  s.in_channels = ic;
  s.in_height = h;
  s.in_width = w;
  s.out_channels = oc;
  s.kernel_height = kh;
  s.kernel_width = kw;
  s.groups = groups;
  s.stride_y = sy;
  s.stride_x = sx;
  s.dilation_y = dy;
  s.dilation_x = dx;
  s.pad_top = top;
  s.pad_left = left;
  s.pad_bottom = bottom;
  s.pad_right = right;
  return s;
}

const Case kCases[] = {
    {"pointwise", make(2, 5, 7, 9, 20, 1, 1)},
    {"pointwise, many channels", make(1, 40, 4, 4, 33, 1, 1)},
    {"pointwise, stride 2", make(1, 8, 9, 9, 16, 1, 1, 1, 2, 2)},
    {"3x3 same", make(2, 19, 8, 11, 15, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1)},
    {"3x3 stride 2, asymmetric pads", make(1, 3, 13, 15, 30, 3, 3, 1, 2, 2, 1, 1, 0, 1, 2, 0)},
    {"7x7 stem", make(1, 3, 30, 34, 8, 7, 7, 1, 2, 2, 1, 1, 3, 3, 3, 3)},
    {"dilated", make(1, 17, 12, 12, 6, 3, 3, 1, 1, 1, 2, 3, 2, 3, 2, 3)},
    {"3x3, rows of 7, odd height, many panels", make(1, 20, 7, 7, 75, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1)},
    {"3x3, rows of 4", make(2, 16, 6, 4, 16, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1)},
    {"3x3, rows of 5, stride 2", make(1, 33, 12, 10, 31, 3, 3, 1, 2, 2, 1, 1, 1, 1, 1, 1)},
    {"3x3, rows of 6, dilated", make(1, 18, 9, 10, 16, 3, 3, 1, 1, 1, 2, 2, 1, 0, 1, 0)},
    {"3x3, several bands", make(1, 64, 41, 60, 16, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1)},
    {"3x3, several bands, stride 2, short channels", make(1, 3, 300, 240, 16, 3, 3, 1, 2, 2, 1, 1, 1, 1, 0, 0)},
    {"1x3, stride 2 downwards", make(1, 17, 11, 13, 48, 1, 3, 1, 2, 1, 1, 1, 1, 1, 2, 1)},
    {"pointwise, several bands", make(1, 300, 25, 25, 17, 1, 1)},
    {"pointwise, in place, partly filled panel", make(2, 9, 23, 25, 40, 1, 1)},
    {"pads wider than the kernel", make(1, 5, 3, 4, 16, 2, 2, 1, 1, 1, 1, 1, 4, 5, 3, 6)},
    {"wide groups", make(1, 40, 6, 9, 66, 3, 3, 2, 1, 1, 1, 1, 1, 1, 1, 1)},
    {"groups", make(1, 12, 6, 6, 20, 3, 3, 4, 1, 1, 1, 1, 1, 1, 1, 1)},
    {"one row", make(2, 4, 1, 50, 6, 1, 5, 1, 1, 2, 1, 1, 0, 2, 0, 2)},
    {"output one pixel wide", make(1, 4, 40, 3, 6, 3, 3)},
    {"kernel larger than the input", make(1, 2, 2, 2, 3, 5, 5, 1, 1, 1, 1, 1, 2, 2, 2, 2)},
    {"depthwise 3x3", make(2, 5, 9, 20, 5, 3, 3, 5, 1, 1, 1, 1, 1, 1, 1, 1)},
    {"depthwise 3x3 stride 2", make(1, 6, 13, 33, 6, 3, 3, 6, 2, 2, 1, 1, 1, 1, 1, 1)},
    {"depthwise 5x5 stride 2, asymmetric", make(1, 3, 14, 18, 3, 5, 5, 3, 2, 2, 1, 1, 1, 1, 2, 2)},
    {"depthwise dilated", make(1, 4, 12, 40, 4, 3, 3, 4, 1, 1, 2, 2, 2, 2, 2, 2)},
    {"depthwise, strides 1 and 3, dilated", make(1, 4, 12, 40, 4, 3, 3, 4, 1, 3, 1, 2, 1, 2, 1, 2)},
    {"depthwise 7x7 output", make(1, 5, 7, 7, 5, 3, 3, 5, 1, 1, 1, 1, 1, 1, 1, 1)},
    {"depthwise 5x5, narrow", make(1, 5, 11, 8, 5, 5, 5, 5, 1, 1, 1, 1, 2, 2, 2, 2)},
    {"depthwise 5x5", make(1, 3, 11, 40, 3, 5, 5, 3, 1, 1, 1, 1, 2, 2, 2, 2)},
    {"depthwise 3x3 stride 2, no pads, odd width", make(1, 3, 10, 37, 3, 3, 3, 3, 2, 2)},
    {"depthwise 3x3 stride 2, wide pads", make(1, 3, 6, 5, 3, 3, 3, 3, 2, 2, 1, 1, 2, 2, 2, 2)},
    {"depthwise with multiplier", make(1, 4, 8, 8, 8, 3, 3, 4, 1, 1, 1, 1, 1, 1, 1, 1)},
};

/// The definition, in its order of summation.
float expected(const ConvShape& s, const std::vector<float>& x, const std::vector<float>& w, std::size_t n,
               std::size_t oc, std::size_t oy, std::size_t ox) {
  const std::size_t in = s.in_channels / s.groups;
  const std::size_t group = oc / (s.out_channels / s.groups);
  float sum = 0.0f;
  for (std::size_t block = 0; block < in; block += 16) {
    for (std::size_t ky = 0; ky < s.kernel_height; ++ky) {
      for (std::size_t kx = 0; kx < s.kernel_width; ++kx) {
        for (std::size_t c = block; c < std::min(in, block + 16); ++c) {
          const std::size_t y = oy * s.stride_y + ky * s.dilation_y;
          const std::size_t column = ox * s.stride_x + kx * s.dilation_x;
          if (y < s.pad_top || y >= s.pad_top + s.in_height || column < s.pad_left || column >= s.pad_left + s.in_width)
            continue;
          sum = std::fma(w[((oc * in + c) * s.kernel_height + ky) * s.kernel_width + kx],
                         x[((n * s.in_channels + group * in + c) * s.in_height + y - s.pad_top) * s.in_width + column -
                           s.pad_left],
                         sum);
        }
      }
    }
  }
  return sum;
}

enum class Residual { kNone, kBefore, kAfter, kAfterInPlace };

/// What follows the chains.
struct Form {
  const char* name;
  bool bias;
  Unary activation;
  Residual residual;
};
const Form kForms[] = {
    {"plain", false, Unary::kIdentity, Residual::kNone},
    {"relu", true, Unary::kRelu, Residual::kNone},
    {"residual, relu", true, Unary::kRelu, Residual::kBefore},
    {"silu, residual in place", true, Unary::kSilu, Residual::kAfterInPlace},
    {"silu after residual", false, Unary::kSilu, Residual::kBefore},
    {"clip, residual", true, Unary::kClip, Residual::kAfter},
    {"residual", true, Unary::kIdentity, Residual::kAfter},
};
constexpr float kLow = -0.5f, kHigh = 2.0f;  // of clip

TEST(Conv, EveryShapeOnEveryInstructionSet) {
  ThreadPool pool(3);
  for (const Case& c : kCases) {
    const ConvShape& s = c.shape;
    const std::vector<float> x = random_floats(s.batch * s.in_channels * s.in_height * s.in_width, 1);
    const std::vector<float> w =
        random_floats(s.out_channels * s.in_channels / s.groups * s.kernel_height * s.kernel_width, 2);
    const std::vector<float> bias = random_floats(s.out_channels, 3);
    const std::size_t pixels = s.out_height() * s.out_width();
    ASSERT_GT(pixels, 0u) << c.name;
    const std::vector<float> residual = random_floats(s.batch * s.out_channels * pixels, 4);
    std::vector<float> want(residual.size());
    for (std::size_t i = 0; i < want.size(); ++i) {
      const std::size_t pixel = i % pixels;
      want[i] = expected(s, x, w, i / pixels / s.out_channels, i / pixels % s.out_channels, pixel / s.out_width(),
                         pixel % s.out_width());
    }
    for (const Form& form : kForms) {
      std::vector<float> finished = want;
      for (std::size_t i = 0; i < want.size(); ++i) {
        if (form.bias) finished[i] += bias[i / pixels % s.out_channels];
        if (form.residual == Residual::kBefore) finished[i] += residual[i];
        unary(form.activation, &finished[i], &finished[i], 1, {kLow, kHigh});
        if (form.residual > Residual::kBefore) finished[i] += residual[i];
      }
      for (Isa isa : runnable_isas()) {
        const ScopedIsa scope(isa);
        const AlignedArray<float> packed = make_aligned<float>(packed_conv_weights_size(s));
        pack_conv_weights(s, w.data(), packed.get());
        for (Parallel parallel : {Parallel{}, Parallel{&pool, 3}}) {
          const AlignedArray<float> workspace = make_aligned<float>(conv_workspace_size(s, parallel.max_threads));
          std::vector<float> y = residual;
          ConvEpilogue e;
          if (form.bias) e.bias = bias.data();
          e.activation = form.activation;
          e.alpha = kLow;
          e.beta = kHigh;
          if (form.residual != Residual::kNone) e.residual = residual.data();
          if (form.residual == Residual::kAfterInPlace) e.residual = y.data();
          e.residual_after_activation = form.residual > Residual::kBefore;
          conv(s, x.data(), packed.get(), y.data(), e, workspace.get(), parallel);
          for (std::size_t i = 0; i < y.size(); ++i) {
            ASSERT_EQ(finished[i], y[i]) << c.name << " at " << i << ", " << form.name << " on " << name(isa);
          }
        }
      }
    }
  }
}

TEST(Conv, KernelThatDoesNotFitGivesNothing) {
  const ConvShape s = make(1, 1, 2, 2, 1, 3, 3);
  EXPECT_EQ(s.out_height(), 0u);
  conv(s, nullptr, nullptr, nullptr, {}, nullptr);
}

}  // namespace
}  // namespace sardonyx::kernels
