#include "kernels/gemm/gemm.h"

#include <bit>
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
  for (float& value : values) value = static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 257.0f;
  return values;
}

struct Case {
  std::size_t m, n, k;
  bool a_transposed = false;
  bool b_transposed = false;
};

/// The definition: one chain of fused multiply-adds per element.
float chain(const Case& c, const std::vector<float>& a, const std::vector<float>& b, std::size_t row,
            std::size_t column) {
  float sum = 0.0f;
  for (std::size_t k = 0; k < c.k; ++k) {
    sum = std::fma(c.a_transposed ? a[k * c.m + row] : a[row * c.k + k],
                   c.b_transposed ? b[column * c.k + k] : b[k * c.n + column], sum);
  }
  return sum;
}

/// Sum by lanes of 16 in blocks of 4,096.
float lanes(const Case& c, const std::vector<float>& a, const std::vector<float>& b, std::size_t row) {
  float total = 0.0f;
  for (std::size_t begin = 0; begin < c.k; begin += 4096) {
    float lane[16] = {};
    for (std::size_t k = begin; k < std::min(c.k, begin + 4096); ++k) {
      lane[k % 16] = std::fma(c.a_transposed ? a[k * c.m + row] : a[row * c.k + k], b[k], lane[k % 16]);
    }
    for (int half = 8; half > 0; half /= 2) {
      for (int l = 0; l < half; ++l) lane[l] += lane[l + half];
    }
    total = begin == 0 ? lane[0] : total + lane[0];
  }
  return total;
}

GemmA view_a(const Case& c, const std::vector<float>& a) {
  if (c.a_transposed) return {a.data(), 1, static_cast<std::ptrdiff_t>(c.m)};
  return {a.data(), static_cast<std::ptrdiff_t>(c.k), 1};
}

std::vector<float> run(const Case& c, const std::vector<float>& a, const std::vector<float>& b,
                       const GemmEpilogue& epilogue, bool constant_b, Parallel parallel,
                       std::vector<float> start = {}) {
  std::vector<float> out(c.m * (c.n + 3), 77.0f);  // rows wider than N: the rest must stay
  if (!start.empty()) out = start;
  const auto k_stride = static_cast<std::ptrdiff_t>(c.b_transposed ? 1 : c.n);
  const auto n_stride = static_cast<std::ptrdiff_t>(c.b_transposed ? c.k : 1);
  if (constant_b) {
    const AlignedArray<float> packed = make_aligned<float>(packed_b_size(c.k, c.n));
    const AlignedArray<float> workspace = make_aligned<float>(gemm_workspace_size(c.m, c.n, c.k));
    const PackedB view = pack_b(b.data(), k_stride, n_stride, c.k, c.n, packed.get(), parallel);
    gemm(c.m, view_a(c, a), view, out.data(), c.n + 3, epilogue, workspace.get(), parallel);
  } else {
    const AlignedArray<float> workspace = make_aligned<float>(gemm_unpacked_workspace_size(c.m, c.n, c.k));
    gemm_unpacked(c.m, c.n, c.k, view_a(c, a), b.data(), k_stride, n_stride, out.data(), c.n + 3, epilogue,
                  workspace.get(), parallel);
  }
  return out;
}

void expect_bits(float want, float got, const Case& c, std::size_t i, std::size_t j, Isa isa) {
  ASSERT_EQ(std::bit_cast<std::uint32_t>(want), std::bit_cast<std::uint32_t>(got))
      << c.m << "x" << c.n << "x" << c.k << " at (" << i << ", " << j << ") on " << name(isa) << ": " << want << " and "
      << got;
}

const Case kCases[] = {
    {1, 1, 1},
    {1, 2, 3},
    {1, 300, 70},
    {1, 150, 33, true, true},
    {2, 16, 5},
    {3, 17, 64},
    {5, 31, 7},
    {6, 32, 33},
    {7, 33, 100},
    {13, 48, 20},
    {14, 64, 768},
    {15, 65, 31},
    {16, 100, 50},
    {29, 40, 17},
    {30, 96, 64},
    {57, 70, 40},
    {10, 1, 5000},
    {4, 5, 0},
    {0, 5, 4},
    {5, 0, 4},
    {9, 50, 30, true, false},
    {40, 33, 20, true, false},
    {9, 50, 30, false, true},
    {33, 47, 65, true, true},
    {3, 1, 9000, true},
    {70, 34, 9000},
};

TEST(Gemm, EveryElementIsOneChainOnEveryInstructionSet) {
  ThreadPool pool(3);
  for (const Case& c : kCases) {
    const std::vector<float> a = random_floats(c.m * c.k, 1);
    const std::vector<float> b = random_floats(c.k * c.n, 2);
    std::vector<float> chains(c.m * c.n);
    for (std::size_t i = 0; i < c.m * c.n; ++i) chains[i] = chain(c, a, b, i / c.n, i % c.n);
    for (Isa isa : runnable_isas()) {
      const ScopedIsa scope(isa);
      for (bool constant_b : {true, false}) {
        for (Parallel parallel : {Parallel{}, Parallel{&pool, 3}}) {
          const std::vector<float> out = run(c, a, b, {}, constant_b, parallel);
          for (std::size_t i = 0; i < c.m; ++i) {
            for (std::size_t j = 0; j < c.n; ++j) {
              const float want = constant_b && c.n == 1 ? lanes(c, a, b, i) : chains[i * c.n + j];
              ASSERT_NO_FATAL_FAILURE(expect_bits(want, out[i * (c.n + 3) + j], c, i, j, isa));
            }
            for (std::size_t j = c.n; j < c.n + 3; ++j)
              ASSERT_EQ(out[i * (c.n + 3) + j], 77.0f) << "wrote beyond the row";
          }
        }
      }
    }
  }
}

struct EpilogueCase {
  const char* name;
  bool bias, row_bias, residual, residual_last, in_place;
  float scale;
  Unary activation;
};

const EpilogueCase kEpilogues[] = {
    {"bias", true, false, false, false, false, 1.0f, Unary::kIdentity},
    {"row bias, relu", false, true, false, false, false, 1.0f, Unary::kRelu},
    {"scale, bias, gelu", true, false, false, false, false, 0.3f, Unary::kGeluErf},
    {"bias, residual", true, false, true, false, false, 1.0f, Unary::kIdentity},
    {"bias, residual, relu", true, false, true, false, false, 1.0f, Unary::kRelu},
    {"bias, silu, residual", true, false, true, true, false, 1.0f, Unary::kSilu},
    {"bias, relu, residual last", true, false, true, true, false, 1.0f, Unary::kRelu},
    {"bias, no activation, residual last", true, false, true, true, false, 1.0f, Unary::kIdentity},
    {"residual in place", true, false, true, false, true, 1.0f, Unary::kIdentity},
    {"activation, residual in place", false, false, true, true, true, 1.0f, Unary::kTanh},
    {"all", true, true, true, false, false, 1.5f, Unary::kHardSwish},
};

TEST(Gemm, EpilogueStepsRoundInOrder) {
  for (const Case& c : {Case{3, 33, 20}, Case{1, 300, 40}, Case{31, 65, 40}, Case{5, 1, 50}, Case{40, 40, 20000}}) {
    const std::vector<float> a = random_floats(c.m * c.k, 3);
    const std::vector<float> b = random_floats(c.k * c.n, 4);
    const std::vector<float> bias = random_floats(c.n, 5);
    const std::vector<float> row_bias = random_floats(c.m, 6);
    const std::vector<float> residual = random_floats(c.m * (c.n + 3), 7);
    for (const EpilogueCase& e : kEpilogues) {
      for (Isa isa : runnable_isas()) {
        if (isa == Isa::kGeneric && c.k > 1000) continue;  // emulated: slow, and no other code path
        const ScopedIsa scope(isa);
        std::vector<float> inout = residual;
        GemmEpilogue epilogue;
        epilogue.scale = e.scale;
        if (e.bias) epilogue.bias = bias.data();
        if (e.row_bias) epilogue.row_bias = row_bias.data();
        if (e.residual) epilogue.residual = residual.data();
        epilogue.residual_stride = c.n + 3;
        epilogue.residual_after_activation = e.residual_last;
        epilogue.activation = e.activation;
        std::vector<float> out;
        if (e.in_place) {
          epilogue.residual = inout.data();
          const AlignedArray<float> workspace = make_aligned<float>(gemm_unpacked_workspace_size(c.m, c.n, c.k));
          gemm_unpacked(c.m, c.n, c.k, view_a(c, a), b.data(), static_cast<std::ptrdiff_t>(c.n), 1, inout.data(),
                        c.n + 3, epilogue, workspace.get());
          out = inout;
        } else {
          out = run(c, a, b, epilogue, c.n > 1, {});
        }
        for (std::size_t i = 0; i < c.m; ++i) {
          for (std::size_t j = 0; j < c.n; ++j) {
            float want = chain(c, a, b, i, j);
            if (e.scale != 1.0f) want *= e.scale;
            if (e.bias) want += bias[j];
            if (e.row_bias) want += row_bias[i];
            if (e.residual && !e.residual_last) want += residual[i * (c.n + 3) + j];
            unary(e.activation, &want, &want, 1);
            if (e.residual && e.residual_last) want += residual[i * (c.n + 3) + j];
            ASSERT_NO_FATAL_FAILURE(expect_bits(want, out[i * (c.n + 3) + j], c, i, j, isa)) << e.name;
          }
        }
      }
    }
  }
}

TEST(Gemm, RowsDoNotDependOnTheBatch) {
  const Case whole{61, 70, 300};
  const std::vector<float> a = random_floats(whole.m * whole.k, 8);
  const std::vector<float> b = random_floats(whole.k * whole.n, 9);
  const std::vector<float> all = run(whole, a, b, {}, true, {});
  for (std::size_t row : {0, 13, 14, 27, 60}) {
    const Case one{1, whole.n, whole.k};
    const std::vector<float> a_row(a.begin() + static_cast<std::ptrdiff_t>(row * whole.k),
                                   a.begin() + static_cast<std::ptrdiff_t>((row + 1) * whole.k));
    const std::vector<float> out = run(one, a_row, b, {}, true, {});
    for (std::size_t j = 0; j < whole.n; ++j) ASSERT_EQ(out[j], all[row * (whole.n + 3) + j]);
  }
}

TEST(Gemm, NanAndInfinityPass) {
  const Case c{2, 20, 3};
  std::vector<float> a = random_floats(c.m * c.k, 1);
  std::vector<float> b = random_floats(c.k * c.n, 2);
  a[1] = INFINITY;
  b[5] = NAN;
  for (Isa isa : runnable_isas()) {
    const ScopedIsa scope(isa);
    const std::vector<float> out = run(c, a, b, {}, true, {});
    EXPECT_TRUE(std::isnan(out[5]));
    EXPECT_TRUE(std::isnan(out[c.n + 3 + 5]));
    EXPECT_TRUE(std::isinf(out[0]));
    EXPECT_TRUE(std::isfinite(out[c.n + 3]));
  }
}

}  // namespace
}  // namespace sardonyx::kernels
