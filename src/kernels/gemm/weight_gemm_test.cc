#include "kernels/gemm/weight_gemm.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <vector>

#include "base/aligned.h"
#include "kernels/simd/isa_test_util.h"

namespace sardonyx::kernels {
namespace {

struct Case {
  std::size_t m, n, k, block_rows;
  bool is_signed, per_column, zero_points, transposed;
};

const Case kCases[] = {
    {1, 40, 50, 0, true, true, false, false},
    {16, 70, 96, 0, false, true, true, false},
    {33, 31, 64, 32, true, true, true, true},
    {5, 1, 20, 0, true, false, true, false},
    {100, 33, 70, 16, false, true, true, true},
    {3, 17, 0, 0, true, true, false, false},
    {14, 64, 40, 0, false, false, false, true},
    {9, 40, 1024, 0, true, true, false, false},  // rows that share sets of the cache
};

TEST(WeightGemm, HasTheBitsOfDequantisedWeights) {
  ThreadPool pool(3);
  for (const Case& c : kCases) {
    std::mt19937 random(5);
    std::vector<float> a(c.m * c.k), bias(c.n);
    std::vector<std::uint8_t> w(c.k * c.n);
    for (float& x : a) x = static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 257.0f;
    for (float& x : bias) x = static_cast<float>(random() % 100) * 0.1f;
    for (std::uint8_t& x : w) x = static_cast<std::uint8_t>(random());
    const std::size_t blocks = c.block_rows == 0 ? 1 : (c.k + c.block_rows - 1) / c.block_rows;
    std::vector<float> scale(blocks * c.n);
    std::vector<std::int32_t> zero(blocks * c.n);
    for (float& x : scale) x = 0.001f * static_cast<float>(random() % 100 + 1);
    for (std::int32_t& x : zero) x = static_cast<std::int32_t>(random() % 256) - (c.is_signed ? 128 : 0);

    WeightSource source;
    source.data = w.data();
    source.is_signed = c.is_signed;
    source.k_stride = static_cast<std::ptrdiff_t>(c.transposed ? 1 : c.n);
    source.n_stride = static_cast<std::ptrdiff_t>(c.transposed ? c.k : 1);
    source.k = c.k;
    source.n = c.n;
    source.block_rows = c.block_rows;
    source.scale = scale.data();
    source.zero_point = c.zero_points ? zero.data() : nullptr;
    source.block_stride = static_cast<std::ptrdiff_t>(c.per_column ? c.n : 0);
    source.column_stride = c.per_column ? 1 : 0;

    std::vector<float> want(c.m * c.n);
    for (std::size_t i = 0; i < c.m; ++i) {
      for (std::size_t j = 0; j < c.n; ++j) {
        float sum = 0;
        for (std::size_t k = 0; k < c.k; ++k) {
          const std::size_t block = c.block_rows == 0 ? 0 : k / c.block_rows;
          const std::size_t at = c.per_column ? block * c.n + j : 0;
          const std::uint8_t byte = w[c.transposed ? j * c.k + k : k * c.n + j];
          const int value = (c.is_signed ? static_cast<std::int8_t>(byte) : byte) - (c.zero_points ? zero[at] : 0);
          sum = std::fma(a[i * c.k + k], static_cast<float>(value) * scale[at], sum);
        }
        want[i * c.n + j] = sum + bias[j];
      }
    }
    for (Isa isa : runnable_isas()) {
      const ScopedIsa scope(isa);
      const AlignedArray<std::byte> packed = make_aligned<std::byte>(packed_weights_size(c.k, c.n, c.block_rows));
      const PackedWeights weights = pack_weights(source, packed.get());
      for (Parallel parallel : {Parallel{}, Parallel{&pool, 3}}) {
        const AlignedArray<float> workspace =
            make_aligned<float>(weight_gemm_workspace_size(c.m, c.k, parallel.max_threads));
        std::vector<float> out(c.m * c.n, 9.0f);
        GemmEpilogue epilogue;
        epilogue.bias = bias.data();
        weight_gemm(c.m, {a.data(), static_cast<std::ptrdiff_t>(c.k)}, weights, out.data(), c.n, epilogue,
                    workspace.get(), parallel);
        ASSERT_EQ(want, out) << c.m << "x" << c.n << "x" << c.k << " on " << name(isa);
      }
    }
  }
}

}  // namespace
}  // namespace sardonyx::kernels
