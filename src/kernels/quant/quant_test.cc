#include "kernels/quant/quant.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/simd/isa_test_util.h"

namespace sardonyx::kernels {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<float> some_floats() {
  std::vector<float> x = {0.0f, -0.0f, 0.05f, 0.15f, -0.05f, 1e30f, -1e30f, kInfinity, -kInfinity};
  for (int i = -400; i < 400; ++i) x.push_back(static_cast<float>(i) * 0.05f);
  return x;
}

template <typename T>
void check_quantize(std::int32_t zero_point) {
  const std::vector<float> x = some_floats();
  const float scale = 0.1f;
  for (Isa isa : runnable_isas()) {
    const ScopedIsa scope(isa);
    std::vector<T> y(x.size() + 1, T{99});
    quantize(x.data(), x.size(), scale, zero_point, y.data());
    std::vector<float> back(x.size());
    dequantize(y.data(), x.size(), scale, zero_point, back.data());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double want = std::clamp(std::nearbyint(static_cast<double>(x[i] / scale)) + zero_point,
                                     static_cast<double>(std::numeric_limits<T>::min()), static_cast<double>(std::numeric_limits<T>::max()));
      ASSERT_EQ(y[i], want) << x[i] << " on " << name(isa);
      ASSERT_EQ(back[i], static_cast<float>(y[i] - zero_point) * scale);
    }
    EXPECT_EQ(y.back(), T{99});
    T nan_code = 5;
    const float nan = std::numeric_limits<float>::quiet_NaN();
    quantize(&nan, 1, scale, zero_point, &nan_code);
    EXPECT_EQ(nan_code, std::numeric_limits<T>::min()) << name(isa);
  }
}

TEST(Quantize, Uint8) {
  check_quantize<std::uint8_t>(0);
  check_quantize<std::uint8_t>(128);
}
TEST(Quantize, Int8) {
  check_quantize<std::int8_t>(0);
  check_quantize<std::int8_t>(-100);
}

TEST(Quantize, DequantizeInt32) {
  const std::vector<std::int32_t> x = {0, 1, -1, 1000000007, -1000000007, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18};
  for (Isa isa : runnable_isas()) {
    const ScopedIsa scope(isa);
    std::vector<float> y(x.size());
    dequantize(x.data(), x.size(), 0.25f, 3, y.data());
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(y[i], static_cast<float>(x[i] - 3) * 0.25f);
  }
}

TEST(Quantize, DynamicParametersFollowOnnx) {
  EXPECT_EQ(uint8_parameters({0.0f, 0.0f}).scale, 1.0f);
  EXPECT_EQ(uint8_parameters({0.0f, 2.55f}).zero_point, 0);
  EXPECT_EQ(uint8_parameters({-2.55f, 0.0f}).zero_point, 255);
  const std::vector<float> x = {0.0f, 2.0f, -3.0f, -2.5f, 1.34f, 0.5f};  // ONNX's own example
  for (Isa isa : runnable_isas()) {
    const ScopedIsa scope(isa);
    std::vector<std::uint8_t> y(x.size());
    const QuantizationParameters p = dynamic_quantize(x.data(), x.size(), y.data());
    EXPECT_NEAR(p.scale, 0.0196078438f, 1e-9);
    EXPECT_EQ(p.zero_point, 153);
    EXPECT_EQ(y, (std::vector<std::uint8_t>{153, 255, 0, 26, 221, 179}));
  }
}

TEST(Quantize, MinMaxOnThreads) {
  ThreadPool pool(3);
  std::vector<float> x(200'001);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 1000) + 1.0f;
  x[77] = std::numeric_limits<float>::quiet_NaN();
  x[150'000] = -5.0f;
  x[200'000] = 5000.0f;
  for (Isa isa : runnable_isas()) {
    const ScopedIsa scope(isa);
    const MinMax range = min_max_with_zero(x.data(), x.size(), {&pool, 3});
    EXPECT_EQ(range.min, -5.0f);
    EXPECT_EQ(range.max, 5000.0f);
    EXPECT_EQ(min_max_with_zero(x.data(), 50).min, 0.0f) << "zero belongs to the range";
    EXPECT_EQ(min_max_with_zero(x.data(), 0).max, 0.0f);
  }
}

TEST(Convert, EveryHalfAndBFloat16) {
  std::vector<Half> halves(65536);
  std::vector<BFloat16> bfloats(65536);
  for (unsigned i = 0; i < 65536; ++i) {
    halves[i] = Half::from_bits(static_cast<std::uint16_t>(i));
    bfloats[i] = BFloat16::from_bits(static_cast<std::uint16_t>(i));
  }
  for (Isa isa : runnable_isas()) {
    const ScopedIsa scope(isa);
    std::vector<float> a(65536), b(65536);
    convert(halves.data(), 65535, a.data());  // one less: a tail
    convert(bfloats.data(), 65535, b.data());
    for (unsigned i = 0; i < 65535; ++i) {
      const float half = static_cast<float>(halves[i]);
      if (std::isnan(half)) {
        ASSERT_TRUE(std::isnan(a[i]));
      } else {
        ASSERT_EQ(std::bit_cast<std::uint32_t>(half), std::bit_cast<std::uint32_t>(a[i])) << i << " on " << name(isa);
      }
      ASSERT_EQ(std::bit_cast<std::uint32_t>(static_cast<float>(bfloats[i])), std::bit_cast<std::uint32_t>(b[i]));
    }
  }
}

TEST(Convert, FloatsRoundAsOneByOne) {
  std::vector<float> x;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 9973) {
    x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
  for (float half : {65519.99f, 65520.0f, 5.9604645e-8f, 2.9802322e-8f, 2.98023259e-8f, 6.1035156e-5f, 6.1005353e-5f}) x.push_back(half);
  for (Isa isa : runnable_isas()) {
    const ScopedIsa scope(isa);
    std::vector<Half> halves(x.size());
    std::vector<BFloat16> bfloats(x.size());
    convert(x.data(), x.size(), halves.data());
    convert(x.data(), x.size(), bfloats.data());
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(halves[i].bits, Half(x[i]).bits) << x[i] << " on " << name(isa);
      ASSERT_EQ(bfloats[i].bits, BFloat16(x[i]).bits) << x[i] << " on " << name(isa);
    }
  }
}

}  // namespace
}  // namespace sardonyx::kernels
