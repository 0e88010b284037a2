#include <cmath>
#include <complex>
#include <random>

#include "provider/cpu/ops/fourier.h"
#include "provider/cpu/ops/exact_test_util.h"

namespace sardonyx::provider::cpu {
namespace {

using Complex = std::complex<double>;

/// The definition, term by term.
std::vector<Complex> slow_transform(const std::vector<Complex>& x) {
  const auto n = static_cast<std::int64_t>(x.size());
  std::vector<Complex> y(x.size());
  for (std::int64_t k = 0; k < n; ++k) {
    for (std::int64_t i = 0; i < n; ++i) {
      y[static_cast<std::size_t>(k)] +=
          x[static_cast<std::size_t>(i)] *
          std::polar(1.0, -2 * M_PI * static_cast<double>(k * i % n) / static_cast<double>(n));
    }
  }
  return y;
}

TEST(FourierTransform, EveryLengthAgainstTheDefinition) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<std::size_t> lengths;
  for (std::size_t n = 1; n <= 64; ++n) lengths.push_back(n);
  lengths.insert(lengths.end(), {74, 97, 100, 128, 210, 311, 400, 512, 1000});
  for (const std::size_t n : lengths) {
    std::vector<Complex> x(n);
    for (Complex& value : x) value = {uniform(random), uniform(random)};
    const FourierTransform<double> transform(n);
    std::vector<Complex> y = x, scratch(transform.scratch());
    transform.run(y.data(), scratch.data(), false);
    const std::vector<Complex> expected = slow_transform(x);
    for (std::size_t i = 0; i < n; ++i)
      ASSERT_LT(std::abs(y[i] - expected[i]), 1e-11 * static_cast<double>(n)) << n << " points, bin " << i;
    transform.run(y.data(), scratch.data(), true);
    for (std::size_t i = 0; i < n; ++i)
      ASSERT_LT(std::abs(y[i] / static_cast<double>(n) - x[i]), 1e-12) << n << " points back, sample " << i;
  }
}

TEST(RootOfUnity, IsExactWhereItCanBe) {
  EXPECT_EQ(root_of_unity(0, 7), Complex(1, 0));
  EXPECT_EQ(root_of_unity(3, 12), Complex(-0.0, 1));
  EXPECT_EQ(root_of_unity(6, 12), Complex(-1, 0));
  EXPECT_EQ(root_of_unity(-3, 12).imag(), -1);
  for (int k = -20; k < 40; ++k)
    EXPECT_LT(std::abs(root_of_unity(k, 17) - std::polar(1.0, 2 * M_PI * k / 17)), 1e-14) << k;
}

TEST(Dft, OneSidedAndBack) {
  const Value x = floats({1, 5, 1}, {1, 2, -3, 4, 0.5F});
  const auto spectrum = run_op("DFT", attributes({{"onesided", std::int64_t{1}}}), {x});
  EXPECT_EQ(spectrum[0].tensor().shape().to_string(), "[1,3,2]");
  const auto back = run_op("DFT", attributes({{"onesided", std::int64_t{1}}, {"inverse", std::int64_t{1}}}),
                           {spectrum[0], ints({}, {5})});
  expect_near(back[0], {1, 5, 1}, {1, 2, -3, 4, 0.5F}, 1e-6F);
}

TEST(Dft, AxesAndLengths) {
  const Value x = floats({2, 2, 1}, {1, 2, 3, 4});
  expect_near(run_op("DFT", {}, {x, Value(), ints({}, {0})})[0], {2, 2, 2}, {4, 0, 6, 0, -2, 0, -2, 0}, 1e-6F);
  expect_near(run_op("DFT", {}, {floats({1, 2, 1}, {1, 2}), ints({}, {4})})[0], {1, 4, 2}, {3, 0, 1, -2, -1, 0, 1, 2},
              1e-6F);
  expect_near(run_op("DFT", {}, {floats({1, 3, 1}, {1, 2, 9}), ints({}, {2})})[0], {1, 2, 2}, {3, 0, -1, 0}, 1e-6F);
  expect_error([&] { run_op("DFT", {}, {x, Value(), ints({}, {-1})}); }, "last axis");
  expect_error(
      [&] {
        run_op("DFT", {}, {x, ints({}, {0})});
        run_op("DFT", {}, {x, ints({}, {-4})});
      },
      "-4");
  expect_error([] { run_op("DFT", {}, {floats({1, 2, 3}, {1, 2, 3, 4, 5, 6})}); }, "real");
}

TEST(Stft, FramesOfASine) {
  std::vector<float> signal;
  for (int i = 0; i < 32; ++i) signal.push_back(static_cast<float>(std::sin(2 * M_PI * i / 8)));
  const auto out = run_op("STFT", {}, {floats({1, 32, 1}, signal), ints({}, {8}), Value(), ints({}, {16})});
  ASSERT_EQ(out[0].tensor().shape().to_string(), "[1,3,9,2]");
  for (int frame = 0; frame < 3; ++frame) EXPECT_NEAR(out[0].tensor().data<float>()[(frame * 9 + 2) * 2 + 1], -8, 1e-5);
  expect_error([&] { run_op("STFT", {}, {floats({1, 32, 1}, signal), ints({}, {0}), Value(), ints({}, {16})}); },
               "frame_step");
  EXPECT_EQ(run_op("STFT", {}, {floats({1, 4, 1}, {1, 2, 3, 4}), ints({}, {1}), Value(), ints({}, {8})})[0]
                .tensor()
                .shape()
                .to_string(),
            "[1,0,5,2]");
}

TEST(Windows, EndsAndMiddles) {
  expect_near(run_op("HannWindow", {}, {ints({}, {4})})[0], {4}, {0, 0.5F, 1, 0.5F}, 0);
  expect_near(run_op("HannWindow", attributes({{"periodic", std::int64_t{0}}}), {ints({}, {3})})[0], {3}, {0, 1, 0}, 0);
  expect_near(run_op("HannWindow", attributes({{"periodic", std::int64_t{0}}}), {ints({}, {1})})[0], {1}, {0}, 0);
  expect_near(run_op("BlackmanWindow", {}, {ints({}, {2})})[0], {2}, {0, 1}, 1e-7F);
  expect_near(run_op("HammingWindow", {}, {ints({}, {2})})[0], {2}, {0.0869565F, 1}, 1e-6F);
  EXPECT_EQ(run_op("HannWindow", {}, {ints({}, {0})})[0].tensor().num_elements(), 0);
  expect_error([] { run_op("HannWindow", {}, {ints({}, {-1})}); }, "-1");
}

TEST(MelWeightMatrix, RejectsWhatNoSpectrumHolds) {
  expect_error(
      [] {
        run_op("MelWeightMatrix", {},
               {ints({}, {4}), ints({}, {16}), ints({}, {8000}), floats({}, {0}), floats({}, {90000})});
      },
      "outside");
  expect_error(
      [] {
        run_op("MelWeightMatrix", {},
               {ints({}, {4}), ints({}, {16}), ints({}, {0}), floats({}, {0}), floats({}, {90})});
      },
      "sample_rate");
}

}  // namespace
}  // namespace sardonyx::provider::cpu
