#include "kernels/reduce/reduce.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "kernels/norm/norm.h"
#include "kernels/simd/isa_test_util.h"

namespace sardonyx::kernels {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<float> random_floats(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(n);
  for (float& value : values) value = static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 311.0f;
  return values;
}

/// The lane rule written out.
float sum_by_lanes(const float* x, std::size_t n) {
  float total = 0;
  for (std::size_t begin = 0; begin < n; begin += 4096) {
    float lane[16] = {};
    for (std::size_t i = begin; i < std::min(n, begin + 4096); ++i) lane[i % 16] += x[i];
    for (int half = 8; half > 0; half /= 2) {
      for (int l = 0; l < half; ++l) lane[l] += lane[l + half];
    }
    total = begin == 0 ? lane[0] : total + lane[0];
  }
  return total;
}

double expected(Reduction reduction, const std::vector<double>& v) {
  double sum = 0, square = 0, l1 = 0, prod = 1, maximum = -INFINITY, minimum = INFINITY, exps = 0;
  for (double x : v) {
    sum += x;
    square += x * x;
    l1 += std::fabs(x);
    prod *= x;
    maximum = std::max(maximum, x);
    minimum = std::min(minimum, x);
    exps += std::exp(x);
  }
  switch (reduction) {
    case Reduction::kSum: return sum;
    case Reduction::kMean: return sum / static_cast<double>(v.size());
    case Reduction::kMax: return maximum;
    case Reduction::kMin: return minimum;
    case Reduction::kProd: return prod;
    case Reduction::kSumSquare: return square;
    case Reduction::kL1: return l1;
    case Reduction::kL2: return std::sqrt(square);
    case Reduction::kLogSum: return std::log(sum);
    case Reduction::kLogSumExp: return std::log(exps);
    case Reduction::kCount: break;
  }
  return 0;
}

void expect_near(double want, float got, double scale, const char* what) {
  if (std::isnan(want) || std::isinf(want)) {
    ASSERT_TRUE(std::isnan(want) ? std::isnan(got) : got == want) << what << " wanted " << want << " got " << got;
  } else {
    ASSERT_NEAR(want, got, 4e-6 * (std::fabs(want) + scale)) << what;
  }
}

struct Dims {
  std::size_t outer, n, inner;
};
const Dims kDims[] = {{3, 1, 1}, {2, 7, 1},   {2, 16, 1},    {1, 17, 1}, {4, 768, 1}, {1, 5000, 1}, {3, 5, 2},
                      {1, 9, 16}, {2, 8, 17}, {1, 4500, 33}, {2, 3, 70}, {2, 0, 1},   {1, 0, 5},    {0, 4, 1}};

TEST(Reduce, EveryReductionOnEveryInstructionSet) {
  ThreadPool pool(3);
  for (const Dims& d : kDims) {
    std::vector<float> x = random_floats(d.outer * d.n * d.inner, 1);
    for (int r = 0; r < static_cast<int>(Reduction::kCount); ++r) {
      const auto reduction = static_cast<Reduction>(r);
      if (reduction == Reduction::kLogSum) {
        for (float& v : x) v = std::fabs(v) + 0.1f;
      }
      std::vector<float> first;
      for (Isa isa : runnable_isas()) {
        const ScopedIsa scope(isa);
        std::vector<float> y(d.outer * d.inner);
        reduce(reduction, x.data(), d.outer, d.n, d.inner, y.data(), isa == Isa::kAvx2 ? Parallel{&pool, 3} : Parallel{});
        if (first.empty()) first = y;
        for (std::size_t i = 0; i < y.size(); ++i) {
          std::vector<double> row;
          double scale = 0;
          for (std::size_t k = 0; k < d.n; ++k) {
            row.push_back(x[(i / d.inner * d.n + k) * d.inner + i % d.inner]);
            scale += reduction == Reduction::kProd || reduction == Reduction::kMean ? 0 : std::fabs(row.back());
          }
          if (reduction == Reduction::kProd && d.n > 100) continue;  // overflows
          expect_near(expected(reduction, row), y[i], scale * (d.n > 1000 ? 0.5 : 0.1) + 0.5, "reduction");
          if (std::isnan(first[i])) continue;
          ASSERT_EQ(std::bit_cast<std::uint32_t>(first[i]), std::bit_cast<std::uint32_t>(y[i])) << r << " on " << name(isa);
        }
      }
    }
  }
}

TEST(Reduce, SumFollowsTheLaneRule) {
  for (std::size_t n : {1, 15, 16, 17, 100, 4096, 4097, 10000}) {
    const std::vector<float> x = random_floats(n, 2);
    for (Isa isa : runnable_isas()) {
      const ScopedIsa scope(isa);
      float y = 0;
      reduce(Reduction::kSum, x.data(), 1, n, 1, &y);
      EXPECT_EQ(y, sum_by_lanes(x.data(), n)) << n << " on " << name(isa);
    }
  }
}

TEST(Reduce, MaxAndMinGiveNanWhereAnElementIsNan) {
  for (Isa isa : runnable_isas()) {
    const ScopedIsa scope(isa);
    for (std::size_t n : {1, 5, 16, 40, 5000}) {
      for (std::size_t at : {std::size_t{0}, n / 2, n - 1}) {
        std::vector<float> x = random_floats(n, 3);
        x[at] = kNan;
        for (Reduction reduction : {Reduction::kMax, Reduction::kMin}) {
          float y = 0;
          reduce(reduction, x.data(), 1, n, 1, &y);
          EXPECT_TRUE(std::isnan(y)) << n << " " << at << " on " << name(isa);
        }
      }
    }
  }
}

TEST(Softmax, RowsAndColumnsOnEveryInstructionSet) {
  for (const Dims& d : kDims) {
    const std::vector<float> x = random_floats(d.outer * d.n * d.inner, 4);
    for (bool logarithm : {false, true}) {
      std::vector<float> first;
      for (Isa isa : runnable_isas()) {
        const ScopedIsa scope(isa);
        std::vector<float> y = x;  // in place
        if (logarithm) {
          log_softmax(y.data(), d.outer, d.n, d.inner, y.data());
        } else {
          softmax(y.data(), d.outer, d.n, d.inner, y.data());
        }
        if (first.empty()) first = y;
        EXPECT_EQ(first, y) << name(isa);
        for (std::size_t i = 0; i < d.outer * d.inner; ++i) {
          const std::size_t base = i / d.inner * d.n * d.inner + i % d.inner;
          double sum = 0;
          for (std::size_t k = 0; k < d.n; ++k) sum += std::exp(static_cast<double>(x[base + k * d.inner]));
          for (std::size_t k = 0; k < d.n; ++k) {
            const double want = x[base + k * d.inner] - std::log(sum);
            if (logarithm) {
              ASSERT_NEAR(y[base + k * d.inner], want, 2e-6 * (1 + std::fabs(want)));
            } else {
              ASSERT_NEAR(y[base + k * d.inner], std::exp(want), 1e-6 * std::exp(want) * 4);
            }
          }
        }
      }
    }
  }
}

TEST(Softmax, MaskedElementsChangeNoBit) {
  for (Isa isa : runnable_isas()) {
    const ScopedIsa scope(isa);
    for (std::size_t n : {1, 5, 16, 30, 128}) {
      const std::vector<float> x = random_floats(n, 5);
      std::vector<float> plain(n);
      softmax(x.data(), 1, n, 1, plain.data());
      for (float mask : {-kInfinity, -3.4028235e38f, -10000.0f}) {
        for (std::size_t more : {1, 15, 16, 100, 5000}) {
          std::vector<float> longer = x;
          longer.resize(n + more, mask);
          softmax(longer.data(), 1, n + more, 1, longer.data());
          EXPECT_TRUE(std::equal(plain.begin(), plain.end(), longer.begin())) << n << " + " << more << " on " << name(isa);
          EXPECT_EQ(longer.back(), 0.0f);
        }
      }
    }
  }
}

TEST(Norm, LayerNormAndRmsNorm) {
  ThreadPool pool(2);
  for (std::size_t n : {1, 7, 16, 384, 768, 5000}) {
    const std::size_t rows = 5;
    const std::vector<float> x = random_floats(rows * n, 6), residual = random_floats(rows * n, 7), gamma = random_floats(n, 8),
                             beta = random_floats(n, 9);
    for (bool rms : {false, true}) {
      for (int form = 0; form < 8; ++form) {
        const bool with_residual = form & 1, with_gamma = form & 2, with_beta = form & 4;
        std::vector<float> first;
        for (Isa isa : runnable_isas()) {
          const ScopedIsa scope(isa);
          std::vector<float> y(rows * n), sum(rows * n), mean(rows), inverse(rows);
          NormArguments a;
          a.x = x.data();
          a.residual = with_residual ? residual.data() : nullptr;
          a.sum = form == 7 ? sum.data() : nullptr;
          a.gamma = with_gamma ? gamma.data() : nullptr;
          a.beta = with_beta ? beta.data() : nullptr;
          a.y = y.data();
          a.mean = mean.data();
          a.inverse_deviation = inverse.data();
          a.rows = rows;
          a.n = n;
          rms ? rms_norm(a, {&pool, 2}) : layer_norm(a, {&pool, 2});
          if (first.empty()) first = y;
          ASSERT_EQ(first, y) << name(isa);
          for (std::size_t row = 0; row < rows; ++row) {
            double m = 0, square = 0;
            const auto value = [&](std::size_t i) {
              return static_cast<double>(x[row * n + i]) + (with_residual ? residual[row * n + i] : 0.0f);
            };
            for (std::size_t i = 0; i < n; ++i) m += value(i) / static_cast<double>(n);
            if (rms) m = 0;
            for (std::size_t i = 0; i < n; ++i) square += (value(i) - m) * (value(i) - m) / static_cast<double>(n);
            const double scale = 1 / std::sqrt(square + 1e-5);
            ASSERT_NEAR(inverse[row], scale, 1e-5 * scale);
            for (std::size_t i = 0; i < n; ++i) {
              const double want = (value(i) - m) * scale * (with_gamma ? gamma[i] : 1.0f) + (with_beta ? beta[i] : 0.0f);
              ASSERT_NEAR(y[row * n + i], want, n == 1 ? 1e-3 : 2e-5) << n << " form " << form;
            }
            if (form == 7) {
              ASSERT_EQ(sum[row * n], x[row * n] + residual[row * n]);
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace sardonyx::kernels
