#include "kernels/gemm/integer_gemm.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <vector>

#include "base/aligned.h"
#include "kernels/math/elementwise.h"
#include "kernels/simd/isa_test_util.h"

namespace sardonyx::kernels {
namespace {

struct Case {
  std::size_t m, n, k;
  bool a_signed, b_signed;
  bool b_transposed = false;
};

struct Data {
  std::vector<std::uint8_t> a, b;
  std::vector<std::int32_t> a_zero, b_zero, bias;

  explicit Data(const Case& c, unsigned seed = 1) : a(c.m * c.k), b(c.k * c.n), a_zero(c.m), b_zero(c.n), bias(c.n) {
    std::mt19937 random(seed);
    for (std::uint8_t& x : a) x = static_cast<std::uint8_t>(random());
    for (std::uint8_t& x : b) x = static_cast<std::uint8_t>(random());
    for (std::int32_t& x : a_zero) x = static_cast<std::int32_t>(random() % 256) - (c.a_signed ? 128 : 0);
    for (std::int32_t& x : b_zero) x = static_cast<std::int32_t>(random() % 256) - (c.b_signed ? 128 : 0);
    for (std::int32_t& x : bias) x = static_cast<std::int32_t>(random() % 20001) - 10000;
  }
};

int value(std::uint8_t byte, bool is_signed) { return is_signed ? static_cast<std::int8_t>(byte) : byte; }

std::int32_t expected(const Case& c, const Data& d, std::size_t i, std::size_t j) {
  std::int64_t sum = 0;
  for (std::size_t k = 0; k < c.k; ++k) {
    const std::uint8_t b = d.b[c.b_transposed ? j * c.k + k : k * c.n + j];
    sum += (value(d.a[i * c.k + k], c.a_signed) - d.a_zero[i]) *
           static_cast<std::int64_t>(value(b, c.b_signed) - d.b_zero[j]);
  }
  return static_cast<std::int32_t>(sum);
}

template <typename T>
std::vector<T> run(const Case& c, const Data& d, IntegerOutput output, const IntegerEpilogue& epilogue,
                   Parallel parallel = {}) {
  const auto k_stride = static_cast<std::ptrdiff_t>(c.b_transposed ? 1 : c.n);
  const auto n_stride = static_cast<std::ptrdiff_t>(c.b_transposed ? c.k : 1);
  const AlignedArray<std::byte> packed = make_aligned<std::byte>(packed_integer_b_size(c.k, c.n));
  const PackedIntegerB b = pack_integer_b(d.b.data(), c.b_signed, k_stride, n_stride, c.k, c.n, packed.get(), parallel);
  const AlignedArray<std::byte> workspace = make_aligned<std::byte>(integer_gemm_workspace_size(c.m, c.n, c.k));
  std::vector<T> out(c.m * (c.n + 2), T{77});
  const IntegerA a{d.a.data(), c.a_signed, c.k, {d.a_zero.data(), 1}};
  integer_gemm(c.m, a, b, {d.b_zero.data(), 1}, output, out.data(), c.n + 2, epilogue, workspace.get(), parallel);
  return out;
}

const Case kCases[] = {
    {1, 1, 1, false, true},          {2, 3, 5, false, false},         {3, 16, 4, true, true},
    {6, 17, 63, true, false},        {7, 33, 64, false, true},        {14, 32, 768, false, true},
    {15, 65, 130, true, true, true}, {31, 40, 7, false, false, true}, {400, 20, 9, false, true},
    {5, 5, 0, false, true},          {0, 5, 3, false, true},
};

TEST(IntegerGemm, ExactOnEveryInstructionSet) {
  ThreadPool pool(3);
  for (const Case& c : kCases) {
    const Data d(c);
    for (Isa isa : runnable_isas()) {
      const ScopedIsa scope(isa);
      for (Parallel parallel : {Parallel{}, Parallel{&pool, 3}}) {
        const auto out = run<std::int32_t>(c, d, IntegerOutput::kInt32, {}, parallel);
        for (std::size_t i = 0; i < c.m; ++i) {
          for (std::size_t j = 0; j < c.n; ++j) {
            ASSERT_EQ(out[i * (c.n + 2) + j], expected(c, d, i, j))
                << c.m << "x" << c.n << "x" << c.k << " on " << name(isa);
          }
          ASSERT_EQ(out[i * (c.n + 2) + c.n], 77);
        }
      }
    }
  }
}

TEST(IntegerGemm, LargestProductsDoNotSaturate) {
  const Case c{1, 1, 4, false, true};
  Data d(c);
  std::fill(d.a.begin(), d.a.end(), std::uint8_t{255});
  std::fill(d.b.begin(), d.b.end(), std::uint8_t{127});
  d.a_zero = d.b_zero = {0};
  for (Isa isa : runnable_isas()) {
    const ScopedIsa scope(isa);
    EXPECT_EQ(run<std::int32_t>(c, d, IntegerOutput::kInt32, {})[0], 129540) << name(isa);
  }
}

TEST(IntegerGemm, FloatEpilogueRoundsInOrder) {
  const Case c{9, 37, 50, false, true};
  const Data d(c);
  std::vector<float> row_scale(c.m), column_scale(c.n), bias(c.n), residual(c.m * (c.n + 2));
  for (std::size_t i = 0; i < c.m; ++i) row_scale[i] = 0.001f * static_cast<float>(i + 1);
  for (std::size_t j = 0; j < c.n; ++j) {
    column_scale[j] = 0.01f / static_cast<float>(j + 1);
    bias[j] = static_cast<float>(j) - 3.3f;
  }
  for (std::size_t i = 0; i < residual.size(); ++i) residual[i] = static_cast<float>(i % 17) * 0.3f;
  for (bool last : {false, true}) {
    IntegerEpilogue e;
    e.integer_bias = d.bias.data();
    e.row_scale = {row_scale.data(), 1};
    e.column_scale = {column_scale.data(), 1};
    e.bias = bias.data();
    e.residual = residual.data();
    e.residual_stride = c.n + 2;
    e.residual_after_activation = last;
    e.activation = Unary::kGeluErf;
    for (Isa isa : runnable_isas()) {
      const ScopedIsa scope(isa);
      const auto out = run<float>(c, d, IntegerOutput::kFloat, e);
      for (std::size_t i = 0; i < c.m; ++i) {
        for (std::size_t j = 0; j < c.n; ++j) {
          float want =
              static_cast<float>(expected(c, d, i, j) + d.bias[j]) * (row_scale[i] * column_scale[j]) + bias[j];
          if (!last) want += residual[i * (c.n + 2) + j];
          unary(Unary::kGeluErf, &want, &want, 1);
          if (last) want += residual[i * (c.n + 2) + j];
          ASSERT_EQ(out[i * (c.n + 2) + j], want) << name(isa);
        }
      }
    }
  }
}

TEST(IntegerGemm, RequantisedOutputSaturatesAndRoundsToEven) {
  const Case c{5, 40, 3, true, true};
  const Data d(c);
  const float scale = 0.03125f;
  for (IntegerOutput output : {IntegerOutput::kUint8, IntegerOutput::kInt8}) {
    IntegerEpilogue e;
    e.integer_bias = d.bias.data();
    e.column_scale = {&scale, 0};
    e.zero_point = output == IntegerOutput::kUint8 ? 100 : -7;
    for (Isa isa : runnable_isas()) {
      const ScopedIsa scope(isa);
      const auto out = run<std::uint8_t>(c, d, output, e);
      for (std::size_t i = 0; i < c.m; ++i) {
        for (std::size_t j = 0; j < c.n; ++j) {
          const double rounded =
              std::nearbyint(static_cast<double>(expected(c, d, i, j) + d.bias[j]) * scale) + e.zero_point;
          const bool is_signed = output == IntegerOutput::kInt8;
          const double want = std::clamp(rounded, is_signed ? -128.0 : 0.0, is_signed ? 127.0 : 255.0);
          ASSERT_EQ(value(out[i * (c.n + 2) + j], is_signed), want) << name(isa);
        }
      }
    }
  }
}

}  // namespace
}  // namespace sardonyx::kernels
