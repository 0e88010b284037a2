#include "kernels/conv/pool.h"

#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <vector>

#include "kernels/simd/isa_test_util.h"

namespace sardonyx::kernels {
namespace {

constexpr std::size_t kPlanes = 3;

/// Small values of either sign, some of them equal, and a NaN.
std::vector<float> planes_of(const PoolShape& s) {
  std::mt19937 random(5);
  std::vector<float> values(s.planes * s.in_height * s.in_width);
  for (float& value : values) value = static_cast<float>(static_cast<int>(random() % 201) - 100) / 31.0f;
  values[values.size() / 8] = std::numeric_limits<float>::quiet_NaN();
  return values;
}

/// Every window by the definition: `visit(y, x)` for each tap inside the input.
template <typename Visit>
void for_window(const PoolShape& s, std::size_t oy, std::size_t ox, Visit visit) {
  for (std::size_t ky = 0; ky < s.kernel_height; ++ky) {
    for (std::size_t kx = 0; kx < s.kernel_width; ++kx) {
      const std::size_t y = oy * s.stride_y + ky * s.dilation_y, x = ox * s.stride_x + kx * s.dilation_x;
      if (y < s.pad_top || y >= s.pad_top + s.in_height || x < s.pad_left || x >= s.pad_left + s.in_width) continue;
      visit(y - s.pad_top, x - s.pad_left);
    }
  }
}

void check(const PoolShape& s) {
  const std::vector<float> x = planes_of(s);
  std::vector<float> largest(s.planes * s.out_height * s.out_width), mean(largest.size()), padded_mean(largest.size());
  max_pool(s, x.data(), largest.data());
  average_pool(s, false, x.data(), mean.data());
  average_pool(s, true, x.data(), padded_mean.data());
  for (std::size_t i = 0; i < largest.size(); ++i) {
    const float* plane = &x[i / s.out_width / s.out_height * s.in_height * s.in_width];
    float most = -std::numeric_limits<float>::infinity(), sum = 0;
    int count = 0;
    for_window(s, i / s.out_width % s.out_height, i % s.out_width, [&](std::size_t row, std::size_t column) {
      const float value = plane[row * s.in_width + column];
      most = std::isnan(value) || std::isnan(most) ? std::numeric_limits<float>::quiet_NaN() : std::max(most, value);
      sum += value;
      ++count;
    });
    if (std::isnan(most)) {
      ASSERT_TRUE(std::isnan(largest[i])) << i;
      continue;
    }
    ASSERT_EQ(largest[i], most) << i;
    ASSERT_EQ(mean[i], sum / static_cast<float>(count)) << i;
    // Windows that reach beyond the padding don't occur here.
    ASSERT_EQ(padded_mean[i], sum / static_cast<float>(s.kernel_height * s.kernel_width)) << i;
  }
}

PoolShape shape_of(std::size_t height, std::size_t width, std::size_t kernel, std::size_t stride, std::size_t dilation,
                   std::size_t pad) {
  PoolShape s;
  s.planes = kPlanes;
  s.in_height = height;
  s.in_width = width;
  s.kernel_height = s.kernel_width = kernel;
  s.stride_y = s.stride_x = stride;
  s.dilation_y = s.dilation_x = dilation;
  s.pad_top = s.pad_left = s.pad_bottom = s.pad_right = pad;
  s.out_height = (height + 2 * pad - (kernel - 1) * dilation - 1) / stride + 1;
  s.out_width = (width + 2 * pad - (kernel - 1) * dilation - 1) / stride + 1;
  return s;
}

TEST(Pool, EveryShapeOnEveryInstructionSet) {
  for (Isa isa : runnable_isas()) {
    const ScopedIsa scope(isa);
    for (std::size_t width : {8, 10, 37, 64}) {
      for (std::size_t kernel : {1, 2, 3}) {
        for (std::size_t stride : {1, 2, 3}) {
          for (std::size_t dilation : {1, 2}) {
            for (std::size_t pad : {std::size_t{0}, kernel / 2}) {
              SCOPED_TRACE(::testing::Message()
                           << name(isa) << ", width " << width << ", kernel " << kernel << ", stride " << stride
                           << ", dilation " << dilation << ", pad " << pad);
              check(shape_of(7, width, kernel, stride, dilation, pad));
            }
          }
        }
      }
    }
  }
}

TEST(Pool, WideRowsAndWindows) {
  check(shape_of(3, 9000, 3, 2, 1, 1));
  check(shape_of(60, 60, 40, 3, 1, 7));
}

TEST(Pool, WindowsMayReachBeyondTheInput) {
  // As ceil mode has it: the last window of each axis holds one row and one column.
  PoolShape s = shape_of(7, 33, 2, 2, 1, 0);
  s.out_height = 4;
  s.out_width = 17;
  const std::vector<float> x(kPlanes * 7 * 33, -2.0f);
  std::vector<float> y(kPlanes * 4 * 17);
  max_pool(s, x.data(), y.data());
  for (float value : y) ASSERT_EQ(value, -2.0f);
}

}  // namespace
}  // namespace sardonyx::kernels
