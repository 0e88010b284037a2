#include "provider/cpu/ops/op_test_util.h"

namespace sardonyx::provider::cpu {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

struct AttentionCase {
  const char* name;
  std::int64_t batch, q_heads, kv_heads, queries, keys, size, value_size;
  bool causal = false;
  float softcap = 0, scale = 0;
  Shape mask = {};  ///< rank 0: none
  bool bool_mask = false;
};

const AttentionCase kCases[] = {
    {"one of everything", 1, 1, 1, 1, 1, 1, 1},
    {"several heads", 2, 3, 3, 5, 7, 8, 4},
    {"grouped", 2, 6, 2, 4, 5, 16, 17},
    {"causal", 1, 2, 2, 5, 5, 8, 8, true},
    {"causal, more keys than queries", 1, 1, 1, 3, 6, 4, 4, true},
    {"softcap and scale", 1, 2, 1, 4, 4, 4, 4, false, 0.5f, 2.0f},
    {"mask of rank 2", 2, 2, 2, 3, 4, 8, 8, false, 0, 0, {3, 4}},
    {"mask that repeats over keys", 1, 2, 2, 3, 4, 8, 8, false, 0, 0, {3, 1}},
    {"mask per batch item", 2, 2, 2, 3, 4, 8, 8, true, 0, 0, {2, 1, 1, 4}},
    {"mask per head", 2, 2, 2, 3, 4, 8, 8, false, 0, 0, {2, 3, 4}},
    {"short mask", 1, 2, 2, 3, 6, 8, 8, false, 0, 0, {3, 4}},
    {"bool mask", 2, 2, 2, 3, 4, 8, 8, false, 0, 0, {2, 2, 3, 4}, true},
    {"more than one tile of keys", 1, 2, 2, 3, 600, 16, 8, false, 0, 0, {1, 600}},
};

double mask_value(const AttentionCase& c, const Tensor& mask, std::int64_t b, std::int64_t h, std::int64_t i,
                  std::int64_t j) {
  const std::int64_t at[] = {b, h, i, j};
  std::int64_t offset = 0;
  const std::size_t rank = c.mask.rank();
  for (std::size_t d = 0; d < rank; ++d) {
    const std::int64_t index = at[4 - rank + d];
    if (d + 1 == rank && c.mask[d] != 1 && index >= c.mask[d]) return -kInfinity;
    offset = offset * c.mask[d] + (c.mask[d] == 1 ? 0 : index);
  }
  if (!c.bool_mask) return element(mask, offset);
  return mask.data<bool>()[offset] ? 0 : -kInfinity;
}

/// What the operator's definition gives, [batch, heads, queries, value_size], and its probabilities.
struct Attended {
  std::vector<double> y, raw, softmax;
};
Attended attend(const AttentionCase& c, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask) {
  Attended result;
  const double scale = c.scale != 0 ? c.scale : 1 / std::sqrt(static_cast<double>(c.size));
  for (std::int64_t row = 0; row < c.batch * c.q_heads * c.queries; ++row) {
    const std::int64_t i = row % c.queries, h = row / c.queries % c.q_heads, b = row / c.queries / c.q_heads;
    const std::int64_t kv = b * c.kv_heads + h / (c.q_heads / c.kv_heads);
    std::vector<double> p;
    double sum = 0;
    for (std::int64_t j = 0; j < c.keys; ++j) {
      double score = 0;
      for (std::int64_t d = 0; d < c.size; ++d)
        score += element(q, row * c.size + d) * element(k, (kv * c.keys + j) * c.size + d) * scale;
      result.raw.push_back(score);
      if (c.softcap > 0) score = c.softcap * std::tanh(score / c.softcap);
      if (c.mask.rank() > 0) score += mask_value(c, mask, b, h, i, j);
      if (c.causal && j > i) score = -kInfinity;
      p.push_back(std::exp(score));
      sum += p.back();
    }
    for (double& value : p) result.softmax.push_back(value /= sum);
    for (std::int64_t d = 0; d < c.value_size; ++d) {
      double total = 0;
      for (std::int64_t j = 0; j < c.keys; ++j)
        total += p[static_cast<std::size_t>(j)] * element(v, (kv * c.keys + j) * c.value_size + d);
      result.y.push_back(total);
    }
  }
  return result;
}

Tensor make_mask(const AttentionCase& c) {
  if (c.mask.rank() == 0) return {};
  const Tensor numbers = random_floats(c.mask, 4);
  if (!c.bool_mask) return numbers;
  std::vector<bool> keep;
  for (std::int64_t i = 0; i < numbers.num_elements(); ++i)
    keep.push_back(i % c.mask[c.mask.rank() - 1] == 0 || element(numbers, i) > 0);
  return tensor<bool>(c.mask, keep);
}

graph::Attributes attributes_of(const AttentionCase& c) {
  graph::Attributes result;
  if (c.causal) result.set("is_causal", std::int64_t{1});
  if (c.softcap != 0) result.set("softcap", c.softcap);
  if (c.scale != 0) result.set("scale", c.scale);
  return result;
}

/// [batch, heads, rows, size] → [batch, rows, heads · size].
Tensor packed(const Tensor& x) {
  const std::int64_t batch = x.shape()[0], heads = x.shape()[1], rows = x.shape()[2], size = x.shape()[3];
  Tensor result(ElementType::kFloat32, {batch, rows, heads * size});
  for (std::int64_t i = 0; i < batch * heads * rows; ++i) {
    const std::int64_t t = i % rows, h = i / rows % heads, b = i / rows / heads;
    std::copy_n(x.data<float>() + i * size, size, result.mutable_data<float>() + ((b * rows + t) * heads + h) * size);
  }
  return result;
}

TEST(Attention, MatchesItsDefinition) {
  for (const AttentionCase& c : kCases) {
    SCOPED_TRACE(c.name);
    const Tensor q = random_floats({c.batch, c.q_heads, c.queries, c.size}, 1),
                 k = random_floats({c.batch, c.kv_heads, c.keys, c.size}, 2);
    const Tensor v = random_floats({c.batch, c.kv_heads, c.keys, c.value_size}, 3), mask = make_mask(c);
    const Attended wanted = attend(c, q, k, v, mask);
    const Shape shape = {c.batch, c.q_heads, c.queries, c.value_size}, scores = {c.batch, c.q_heads, c.queries, c.keys};
    expect_in_all_types("Attention", attributes_of(c), {q, k, v, mask}, shape, wanted.y);
    const Value given = mask.defined() ? Value(mask) : Value();
    graph::Attributes attrs = attributes_of(c);
    expect_values(run("Attention", attrs, {q, k, v, given}, 4)[3], scores, wanted.raw);
    attrs.set("qk_matmul_output_mode", std::int64_t{3});
    const auto outputs = run("Attention", attrs, {q, k, v, given}, 4);
    expect_values(outputs[3], scores, wanted.softmax);
    expect_values(outputs[0], shape, wanted.y);
    graph::Attributes heads = attributes_of(c);
    heads.set("q_num_heads", c.q_heads);
    heads.set("kv_num_heads", c.kv_heads);
    const auto three = run("Attention", heads, {packed(q), packed(k), packed(v), given});
    const Tensor unpacked = floats(shape, std::vector<float>(wanted.y.begin(), wanted.y.end()));
    expect_values(three[0], {c.batch, c.queries, c.q_heads * c.value_size}, elements(packed(unpacked)));
  }
}

TEST(Attention, PastIsPutInFront) {
  const Tensor q = random_floats({2, 2, 3, 4}, 1), k = random_floats({2, 2, 5, 4}, 2),
               v = random_floats({2, 2, 5, 6}, 3);
  const auto part = [](const Tensor& x, std::int64_t begin, std::int64_t end) {
    const std::int64_t size = x.shape()[3];
    Tensor result(ElementType::kFloat32, {2, 2, end - begin, size});
    for (std::int64_t i = 0; i < 4; ++i)
      std::copy_n(x.data<float>() + (i * 5 + begin) * size, (end - begin) * size,
                  result.mutable_data<float>() + i * (end - begin) * size);
    return result;
  };
  const std::vector<Value> split = {q, part(k, 2, 5), part(v, 2, 5), Value(), part(k, 0, 2), part(v, 0, 2)};
  const auto whole = run("Attention", {}, {q, k, v});
  const auto outputs = run("Attention", {}, split, 3);
  EXPECT_TRUE(identical(outputs[1].tensor().view(), k.view()));
  EXPECT_TRUE(identical(outputs[2].tensor().view(), v.view()));
  EXPECT_TRUE(identical(outputs[0].tensor().view(), whole[0].tensor().view()));
  EXPECT_TRUE(identical(run("Attention", {}, split)[0].tensor().view(), whole[0].tensor().view()));
  // Causal masking counts from the end of the past: query 0 sees keys 0 … 2.
  const auto causal = run("Attention", attributes({{"is_causal", std::int64_t{1}}}), split);
  const auto first =
      run("Attention", {}, {q, k, v, floats({3, 5}, {0, 0, 0, -1e30f, -1e30f, 0, 0, 0, 0, -1e30f, 0, 0, 0, 0, 0})});
  expect_values(causal[0], {2, 2, 3, 6}, elements(first[0]));
}

TEST(Attention, LengthsAndMaskedRows) {
  const Tensor q = random_floats({2, 1, 2, 4}, 1), k = random_floats({2, 1, 3, 4}, 2),
               v = random_floats({2, 1, 3, 4}, 3);
  const std::vector<Value> none(3);
  const auto limited = run("Attention", {}, {q, k, v, none[0], none[1], none[2], ints({2}, {3, 1})});
  const auto masked =
      run("Attention", {}, {q, k, v, tensor<bool>({2, 1, 1, 3}, {true, true, true, true, false, false})});
  EXPECT_TRUE(identical(limited[0].tensor().view(), masked[0].tensor().view()));
  const auto nothing = run("Attention", {}, {q, k, v, tensor<bool>({2, 3}, {false, false, false, true, true, true})});
  EXPECT_TRUE(std::isnan(element(nothing[0].tensor(), 0)));
  EXPECT_FALSE(std::isnan(element(nothing[0].tensor(), 4)));
}

TEST(Attention, Errors) {
  const Tensor q = random_floats({1, 4, 2, 4}, 1), k = random_floats({1, 3, 2, 4}, 2),
               odd = random_floats({1, 2, 10}, 3);
  expect_error(ErrorCode::kInvalidModel, "multiple", "Attention", {}, {q, k, k});
  expect_error(ErrorCode::kInvalidModel, "together", "Attention", {}, {q, q, q, Value(), q});
  expect_error(ErrorCode::kInvalidModel, "multiple", "Attention",
               attributes({{"q_num_heads", std::int64_t{3}}, {"kv_num_heads", std::int64_t{3}}}), {odd, odd, odd});
  expect_error(ErrorCode::kInvalidModel, "q_num_heads", "Attention", {}, {odd, odd, odd});
  expect_error(ErrorCode::kInvalidModel, "mask", "Attention", {}, {q, q, q, random_floats({3, 2}, 4)});
}

TEST(RotaryEmbedding, TurnsPairs) {
  const Tensor x = floats({1, 1, 1, 6}, {1, 2, 3, 4, 5, 6}), cosines = floats({2, 2}, {1, 1, 0, 0.5f}),
               sines = floats({2, 2}, {0, 0, 1, 2});
  const Tensor second = ints({1, 1}, {1});
  const auto halves = attributes({{"rotary_embedding_dim", std::int64_t{4}}});
  expect_values(run("RotaryEmbedding", halves, {x, cosines, sines, second})[0], {1, 1, 1, 6},
                {-3, 0.5 * 2 - 2 * 4, 1, 2 * 2 + 0.5 * 4, 5, 6});
  const auto pairs = attributes({{"rotary_embedding_dim", std::int64_t{4}}, {"interleaved", std::int64_t{1}}});
  expect_values(run("RotaryEmbedding", pairs, {x, cosines, sines, second})[0], {1, 1, 1, 6},
                {-2, 1, 0.5 * 3 - 2 * 4, 2 * 3 + 0.5 * 4, 5, 6});
  expect_error(ErrorCode::kInvalidArgument, "position 2", "RotaryEmbedding", halves,
               {x, cosines, sines, ints({1, 1}, {2})});
  expect_error(ErrorCode::kInvalidModel, "rotary_embedding_dim", "RotaryEmbedding",
               attributes({{"rotary_embedding_dim", std::int64_t{3}}}), {x, cosines, sines, second});
}

TEST(LinearAttention, StateContinues) {
  const Tensor q = random_floats({2, 4, 12}, 1), k = random_floats({2, 4, 6}, 2), v = random_floats({2, 4, 10}, 3);
  const Tensor decay = random_floats({2, 4, 2}, 4), beta = random_floats({2, 4, 1}, 5);
  const auto part = [](const Tensor& x, std::int64_t begin, std::int64_t end) {
    const std::int64_t size = x.shape()[2];
    Tensor result(ElementType::kFloat32, {2, end - begin, size});
    for (std::int64_t b = 0; b < 2; ++b)
      std::copy_n(x.data<float>() + (b * 4 + begin) * size, (end - begin) * size,
                  result.mutable_data<float>() + b * (end - begin) * size);
    return result;
  };
  const auto heads = attributes({{"q_num_heads", std::int64_t{4}}, {"kv_num_heads", std::int64_t{2}}});
  const auto whole = run("LinearAttention", heads, {q, k, v, Value(), decay, beta}, 2);
  const auto first =
      run("LinearAttention", heads,
          {part(q, 0, 3), part(k, 0, 3), part(v, 0, 3), Value(), part(decay, 0, 3), part(beta, 0, 3)}, 2);
  const auto second =
      run("LinearAttention", heads,
          {part(q, 3, 4), part(k, 3, 4), part(v, 3, 4), first[1], part(decay, 3, 4), part(beta, 3, 4)}, 2);
  EXPECT_TRUE(identical(whole[1].tensor().view(), second[1].tensor().view()));
  EXPECT_TRUE(identical(part(whole[0].tensor(), 3, 4).view(), second[0].tensor().view()));
  // Without decay and correction the state is the sum of k vᵀ.
  const auto linear = attributes({{"q_num_heads", std::int64_t{1}},
                                  {"kv_num_heads", std::int64_t{1}},
                                  {"update_rule", std::string("linear")},
                                  {"scale", 1.0f}});
  const auto sums = run("LinearAttention", linear,
                        {floats({1, 2, 1}, {1, 10}), floats({1, 2, 1}, {2, 3}), floats({1, 2, 2}, {1, 2, 3, 4})}, 2);
  expect_values(sums[0], {1, 2, 2}, {2, 4, 110, 160});
  expect_values(sums[1], {1, 1, 1, 2}, {11, 16});
  expect_error(ErrorCode::kInvalidModel, "decay", "LinearAttention", heads, {q, k, v, Value(), Value(), beta}, 2);
}

}  // namespace
}  // namespace sardonyx::provider::cpu
