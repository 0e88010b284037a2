#include "kernels/attention/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "base/aligned.h"
#include "kernels/simd/isa_test_util.h"

namespace sardonyx::kernels {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<float> random_floats(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(n);
  for (float& value : values) value = static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 700.0f;
  return values;
}

/// Tensors laid out [batch, rows, heads, dim], as models have them.
struct Problem {
  std::size_t batch, heads, key_heads, queries, keys, dim, value_dim;
  std::vector<float> q, k, v;

  Problem(std::size_t b, std::size_t h, std::size_t kh, std::size_t sq, std::size_t sk, std::size_t d, std::size_t dv)
      : batch(b), heads(h), key_heads(kh), queries(sq), keys(sk), dim(d), value_dim(dv), q(random_floats(b * sq * h * d, 1)),
        k(random_floats(b * sk * kh * d, 2)), v(random_floats(b * sk * kh * dv, 3)) {}

  AttentionArguments arguments() const {
    AttentionArguments a;
    a.batch = batch;
    a.heads = heads;
    a.key_heads = key_heads;
    a.queries = queries;
    a.keys = keys;
    a.head_dim = dim;
    a.value_dim = value_dim;
    a.scale = 1.0f / std::sqrt(static_cast<float>(dim));
    a.q = q.data();
    a.k = k.data();
    a.v = v.data();
    const auto strides = [](std::size_t rows, std::size_t heads, std::size_t dim) {
      return AttentionStrides{static_cast<std::ptrdiff_t>(rows * heads * dim), static_cast<std::ptrdiff_t>(dim),
                              static_cast<std::ptrdiff_t>(heads * dim)};
    };
    a.q_strides = strides(queries, heads, dim);
    a.k_strides = strides(keys, key_heads, dim);
    a.v_strides = strides(keys, key_heads, value_dim);
    a.out_strides = strides(queries, heads, value_dim);
    return a;
  }
};

std::vector<float> run(AttentionArguments a, Parallel parallel = {}) {
  std::vector<float> out(a.batch * a.queries * a.heads * a.value_dim, 9.0f);
  a.out = out.data();
  const AlignedArray<float> workspace = make_aligned<float>(attention_workspace_size(a, parallel.max_threads));
  attention(a, workspace.get(), parallel);
  return out;
}

/// The definition, in double.
std::vector<double> expected(const Problem& p, const AttentionArguments& a) {
  std::vector<double> out(p.batch * p.queries * p.heads * p.value_dim);
  for (std::size_t b = 0; b < p.batch; ++b) {
    for (std::size_t h = 0; h < p.heads; ++h) {
      const std::size_t kh = h / (p.heads / p.key_heads);
      for (std::size_t i = 0; i < p.queries; ++i) {
        std::vector<double> weight(p.keys, 0.0);
        double maximum = -INFINITY, sum = 0;
        for (std::size_t j = 0; j < p.keys; ++j) {
          double s = 0;
          for (std::size_t d = 0; d < p.dim; ++d) {
            s += static_cast<double>(p.q[((b * p.queries + i) * p.heads + h) * p.dim + d]) * p.k[((b * p.keys + j) * p.key_heads + kh) * p.dim + d];
          }
          s *= a.scale;
          if (a.softcap != 0) s = a.softcap * std::tanh(s / a.softcap);
          const auto mask = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(b) * a.mask_strides.batch +
                                                     static_cast<std::ptrdiff_t>(h) * a.mask_strides.head +
                                                     static_cast<std::ptrdiff_t>(i) * a.mask_strides.row) + j;
          if (a.additive_mask != nullptr) s += a.additive_mask[mask];
          if (a.keep_mask != nullptr && a.keep_mask[mask] == 0) s = -INFINITY;
          if (a.key_lengths != nullptr && static_cast<std::int64_t>(j) >= a.key_lengths[b]) s = -INFINITY;
          if (a.causal && static_cast<std::ptrdiff_t>(j) > static_cast<std::ptrdiff_t>(i) + a.causal_offset) s = -INFINITY;
          weight[j] = s;
          maximum = std::max(maximum, s);
        }
        for (double& w : weight) {
          w = maximum == -INFINITY ? 0 : std::exp(w - maximum);
          sum += w;
        }
        for (std::size_t d = 0; d < p.value_dim; ++d) {
          double y = 0;
          for (std::size_t j = 0; j < p.keys; ++j) y += weight[j] * p.v[((b * p.keys + j) * p.key_heads + kh) * p.value_dim + d];
          out[((b * p.queries + i) * p.heads + h) * p.value_dim + d] = sum == 0 ? 0 : y / sum;
        }
      }
    }
  }
  return out;
}

void check(const Problem& p, const AttentionArguments& a) {
  const std::vector<double> want = expected(p, a);
  ThreadPool pool(3);
  std::vector<float> first;
  for (Isa isa : runnable_isas()) {
    const ScopedIsa scope(isa);
    const std::vector<float> got = run(a);
    if (first.empty()) first = got;
    ASSERT_EQ(first, got) << "on " << name(isa);
    ASSERT_EQ(run(a, {&pool, 3}), got) << "with threads on " << name(isa);
    for (std::size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(want[i], got[i], 3e-6) << i << " on " << name(isa);
  }
}

TEST(Attention, Shapes) {
  check(Problem(1, 1, 1, 1, 1, 1, 1), Problem(1, 1, 1, 1, 1, 1, 1).arguments());
  for (const Problem& p : {Problem(2, 3, 3, 10, 10, 64, 64), Problem(1, 2, 2, 17, 33, 24, 40), Problem(1, 4, 2, 5, 300, 16, 16),
                           Problem(1, 1, 1, 140, 31, 8, 72), Problem(1, 2, 1, 3, 600, 33, 17)}) {
    ASSERT_NO_FATAL_FAILURE(check(p, p.arguments()));
  }
}

TEST(Attention, Masks) {
  const Problem p(2, 2, 2, 9, 270, 16, 20);
  AttentionArguments a = p.arguments();
  std::vector<float> additive = random_floats(2 * 270, 5);
  for (std::size_t i = 200; i < 270; ++i) additive[i] = -3.4028235e38f;
  additive[270 + 3] = -kInfinity;
  a.additive_mask = additive.data();
  a.mask_strides = {270, 0, 0};
  ASSERT_NO_FATAL_FAILURE(check(p, a));

  a = p.arguments();
  std::vector<std::uint8_t> keep(9 * 270);
  for (std::size_t i = 0; i < keep.size(); ++i) keep[i] = i * 7 % 5 != 0 && i / 270 != 4;  // query 4 sees nothing
  a.keep_mask = keep.data();
  a.mask_strides = {0, 0, 270};
  ASSERT_NO_FATAL_FAILURE(check(p, a));

  a = p.arguments();
  const std::int64_t lengths[] = {270, 13};
  a.key_lengths = lengths;
  ASSERT_NO_FATAL_FAILURE(check(p, a));

  a = p.arguments();
  a.causal = true;
  for (std::ptrdiff_t offset : {0, 261, -3}) {
    a.causal_offset = offset;
    ASSERT_NO_FATAL_FAILURE(check(p, a));
  }
  a = p.arguments();
  a.softcap = 0.5f;
  ASSERT_NO_FATAL_FAILURE(check(p, a));
}

TEST(Attention, PaddingChangesNoBit) {
  for (std::size_t length : {1, 7, 30, 256, 290}) {
    const Problem p(1, 2, 2, 6, length + 300, 16, 16);
    AttentionArguments a = p.arguments();
    a.keys = length;
    const std::vector<float> plain = run(a);
    a.keys = length + 300;
    std::vector<float> mask(a.keys, 0.0f);
    for (float value : {-kInfinity, -3.4028235e38f, -10000.0f}) {
      std::fill(mask.begin() + static_cast<std::ptrdiff_t>(length), mask.end(), value);
      a.additive_mask = mask.data();
      EXPECT_EQ(plain, run(a)) << length << " mask " << value;
    }
  }
}

TEST(Attention, SequencesWithoutPaddingMatchEachAlone) {
  const std::size_t heads = 2, dim = 16;
  const std::int64_t offsets[] = {0, 5, 6, 6, 39};
  const Problem whole(1, heads, heads, 39, 39, dim, dim);
  AttentionArguments a = whole.arguments();
  a.batch = 4;
  a.queries = a.keys = 33;
  a.offsets = offsets;
  std::vector<float> out(39 * heads * dim, 9.0f);
  a.out = out.data();
  const AlignedArray<float> workspace = make_aligned<float>(attention_workspace_size(a, 1));
  attention(a, workspace.get());
  for (int s = 0; s < 4; ++s) {
    AttentionArguments one = whole.arguments();
    const auto rows = static_cast<std::size_t>(offsets[s + 1] - offsets[s]);
    const std::ptrdiff_t start = offsets[s] * static_cast<std::ptrdiff_t>(heads * dim);
    one.q += start;
    one.k += start;
    one.v += start;
    one.queries = one.keys = rows;
    const std::vector<float> alone = run(one);
    EXPECT_TRUE(std::equal(alone.begin(), alone.end(), out.begin() + start)) << "sequence " << s;
  }
}

TEST(Attention, NanScoresGiveNan) {
  Problem p(1, 1, 1, 3, 20, 8, 8);
  for (std::size_t d = 0; d < 8; ++d) p.q[8 + d] = NAN;  // every score of query 1
  p.k[19 * 8] = NAN;                                     // the last score of every query
  AttentionArguments a = p.arguments();
  const std::int64_t length = 19;
  for (Isa isa : runnable_isas()) {
    const ScopedIsa scope(isa);
    a.key_lengths = nullptr;
    for (float y : run(a)) EXPECT_TRUE(std::isnan(y)) << name(isa);
    a.key_lengths = &length;  // now only query 1 sees NaN
    const std::vector<float> out = run(a);
    for (std::size_t i = 0; i < out.size(); ++i) EXPECT_EQ(std::isnan(out[i]), i / 8 == 1) << name(isa);
  }
}

TEST(Attention, NanWhereAsked) {
  const Problem p(1, 1, 1, 2, 4, 8, 8);
  AttentionArguments a = p.arguments();
  const std::int64_t length = 0;
  a.key_lengths = &length;
  EXPECT_EQ(run(a), std::vector<float>(16, 0.0f));
  a.zero_masked_rows = false;
  for (float y : run(a)) EXPECT_TRUE(std::isnan(y));
}

}  // namespace
}  // namespace sardonyx::kernels
