#include "provider/cpu/ops/op_test_util.h"

namespace sardonyx::provider::cpu {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

constexpr float kInf = std::numeric_limits<float>::infinity();

/// Softmax by its definition, along the middle of [outer, n, inner].
std::vector<double> softmax_of(const Tensor& x, std::int64_t outer, std::int64_t n, std::int64_t inner,
                               bool logarithm) {
  std::vector<double> y(static_cast<std::size_t>(outer * n * inner));
  for (std::int64_t o = 0; o < outer * inner; ++o) {
    const auto at = [&](std::int64_t i) { return (o / inner * n + i) * inner + o % inner; };
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += std::exp(element(x, at(i)));
    for (std::int64_t i = 0; i < n; ++i) {
      const double value = std::exp(element(x, at(i))) / sum;
      y[static_cast<std::size_t>(at(i))] = logarithm ? std::log(value) : value;
    }
  }
  return y;
}

TEST(Softmax, MatchesItsDefinitionAlongEveryAxis) {
  const Shape shapes[] = {{1}, {15}, {16}, {17}, {3, 1}, {2, 100}, {2, 3, 5}, {2, 33, 70}, {4, 5000}};
  for (const Shape& shape : shapes) {
    const Tensor x = random_floats(shape, 1);
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
      SCOPED_TRACE(shape.to_string() + " axis " + std::to_string(axis));
      const std::int64_t outer = shape.product(0, axis), n = shape[axis], inner = shape.product(axis + 1, shape.rank());
      const auto negative = static_cast<std::int64_t>(axis) - static_cast<std::int64_t>(shape.rank());
      expect_values(run("Softmax", attributes({{"axis", negative}}), {x})[0], shape,
                    softmax_of(x, outer, n, inner, false));
      expect_values(run("LogSoftmax", attributes({{"axis", static_cast<std::int64_t>(axis)}}), {x})[0], shape,
                    softmax_of(x, outer, n, inner, true));
    }
  }
}

TEST(Softmax, EveryType) {
  const Tensor x = random_floats({3, 19}, 2);
  expect_in_all_types("Softmax", {}, {x}, {3, 19}, softmax_of(x, 3, 19, 1, false));
}

TEST(Softmax, SpecialValues) {
  struct Case {
    const char* name;
    std::vector<float> x;
    std::vector<double> wanted;
  };
  const Case cases[] = {
      {"one infinitely low", {0, -kInf, 0}, {0.5, 0, 0.5}},
      {"all infinitely low", {-kInf, -kInf, -kInf}, {kNaN, kNaN, kNaN}},
      {"NaN spreads", {0, std::numeric_limits<float>::quiet_NaN(), 1}, {kNaN, kNaN, kNaN}},
      {"no overflow", {1000, 1000, -1000}, {0.5, 0.5, 0}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    expect_values(run("Softmax", {}, {floats({3}, c.x)})[0], {3}, c.wanted);
  }
}

TEST(Softmax, EmptyAndErrors) {
  expect_values(run("Softmax", attributes({{"axis", std::int64_t{1}}}), {floats({2, 0}, {})})[0], {2, 0}, {});
  expect_values(run("Softmax", {}, {floats({0, 4}, {})})[0], {0, 4}, {});
  expect_error(ErrorCode::kInvalidModel, "axis", "Softmax", attributes({{"axis", std::int64_t{2}}}),
               {floats({2, 2}, {1, 2, 3, 4})});
  expect_error(ErrorCode::kInvalidModel, "floating-point", "Softmax", {}, {ints({2}, {1, 2})});
}

TEST(Hardmax, FirstGreatest) {
  expect_in_all_types("Hardmax", {}, {floats({2, 3}, {1, 3, 3, -1, -2, -1})}, {2, 3}, {0, 1, 0, 1, 0, 0});
  expect_values(run("Hardmax", attributes({{"axis", std::int64_t{0}}}), {floats({2, 2}, {1, 5, 2, 4})})[0], {2, 2},
                {0, 1, 1, 0});
}

/// Layer normalisation by its definition over rows of n.
struct Normalized {
  std::vector<double> y, mean, factor;
};
Normalized layer_norm_of(const Tensor& x, std::int64_t n, bool centered) {
  Normalized result;
  for (std::int64_t row = 0; row * n < x.num_elements(); ++row) {
    double mean = 0, square = 0;
    for (std::int64_t i = 0; centered && i < n; ++i) mean += element(x, row * n + i) / static_cast<double>(n);
    for (std::int64_t i = 0; i < n; ++i) square += std::pow(element(x, row * n + i) - mean, 2) / static_cast<double>(n);
    result.mean.push_back(mean);
    result.factor.push_back(1 / std::sqrt(square + 1e-5));
    for (std::int64_t i = 0; i < n; ++i) result.y.push_back((element(x, row * n + i) - mean) * result.factor.back());
  }
  return result;
}

TEST(LayerNormalization, SavesStatisticsOverTheLastAxes) {
  for (std::int64_t n : {1, 15, 16, 17, 100}) {
    SCOPED_TRACE(n);
    const Tensor x = random_floats({2, 3, n}, 3);
    const Tensor scale = random_floats({n}, 4), bias = random_floats({n}, 5);
    Normalized wanted = layer_norm_of(x, n, true);
    for (std::size_t i = 0; i < wanted.y.size(); ++i) {
      const auto column = static_cast<std::int64_t>(i) % n;
      wanted.y[i] = wanted.y[i] * element(scale, column) + element(bias, column);
    }
    const auto outputs = run("LayerNormalization", {}, {x, scale, bias}, 3);
    expect_values(outputs[0], {2, 3, n}, wanted.y);
    expect_values(outputs[1], {2, 3, 1}, wanted.mean);
    expect_values(outputs[2], {2, 3, 1}, wanted.factor);
    expect_in_all_types("LayerNormalization", {}, {x, scale, bias}, {2, 3, n}, wanted.y);
  }
}

TEST(LayerNormalization, ParametersBroadcast) {
  const Tensor x = random_floats({2, 3, 4}, 6);
  const Normalized plain = layer_norm_of(x, 12, true);
  struct Case {
    Shape scale;
    std::int64_t stride0, stride1, stride2;
  };
  const Case cases[] = {{{3, 4}, 0, 4, 1}, {{4}, 0, 0, 1},       {{1}, 0, 0, 0},
                        {{3, 1}, 0, 1, 0}, {{2, 1, 1}, 1, 0, 0}, {{2, 3, 4}, 12, 4, 1}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.scale.to_string());
    const Tensor scale = random_floats(c.scale, 7);
    std::vector<double> wanted = plain.y;
    for (std::int64_t i = 0; i < 24; ++i)
      wanted[static_cast<std::size_t>(i)] *=
          element(scale, i / 12 * c.stride0 + i / 4 % 3 * c.stride1 + i % 4 * c.stride2);
    expect_values(run("LayerNormalization", attributes({{"axis", std::int64_t{1}}}), {x, scale})[0], {2, 3, 4}, wanted);
    std::vector<double> rms = layer_norm_of(x, 12, false).y;
    for (std::int64_t i = 0; i < 24; ++i)
      rms[static_cast<std::size_t>(i)] *=
          element(scale, i / 12 * c.stride0 + i / 4 % 3 * c.stride1 + i % 4 * c.stride2);
    expect_values(run("RMSNormalization", attributes({{"axis", std::int64_t{-2}}}), {x, scale})[0], {2, 3, 4}, rms);
  }
  expect_error(ErrorCode::kInvalidModel, "broadcast", "LayerNormalization", {}, {x, random_floats({3}, 8)});
}

TEST(BatchNormalization, InferenceAndTraining) {
  const Tensor x = floats({2, 2, 2}, {1, 3, 10, 20, 5, 7, 30, 40});
  const Tensor scale = floats({2}, {2, 1}), bias = floats({2}, {0, 5}), mean = floats({2}, {1, 10}),
               variance = floats({2}, {4, 25});
  const auto epsilon = std::make_pair(std::string("epsilon"), graph::Attribute(0.0f));
  expect_in_all_types("BatchNormalization", attributes({epsilon}), {x, scale, bias, mean, variance}, {2, 2, 2},
                      {0, 2, 5, 7, 4, 6, 9, 11});
  const auto trained =
      run("BatchNormalization", attributes({epsilon, {"training_mode", std::int64_t{1}}, {"momentum", 0.5f}}),
          {x, scale, bias, mean, variance}, 3);
  expect_values(trained[1], {2}, {0.5 * 1 + 0.5 * 4, 0.5 * 10 + 0.5 * 25});
  expect_values(trained[2], {2}, {0.5 * 4 + 0.5 * 5, 0.5 * 25 + 0.5 * 125});
  const double a = 2 / std::sqrt(5), b = 1 / std::sqrt(125);
  expect_values(trained[0], {2, 2, 2}, {-3 * a, -a, 5 - 15 * b, 5 - 5 * b, a, 3 * a, 5 + 5 * b, 5 + 15 * b});
  expect_error(ErrorCode::kInvalidModel, "channels", "BatchNormalization", {},
               {x, floats({3}, {1, 1, 1}), bias, mean, variance});
}

TEST(GroupNormalization, GroupsOfChannels) {
  const Tensor x = random_floats({2, 4, 3}, 9), scale = floats({4}, {1, 2, 3, 4}), bias = floats({4}, {0, 1, 2, 3});
  for (std::int64_t groups : {1, 2, 4}) {
    SCOPED_TRACE(groups);
    std::vector<double> wanted = layer_norm_of(x, 12 / groups, true).y;
    for (std::size_t i = 0; i < wanted.size(); ++i)
      wanted[i] = wanted[i] * static_cast<double>(i / 3 % 4 + 1) + static_cast<double>(i / 3 % 4);
    expect_in_all_types("GroupNormalization", attributes({{"num_groups", groups}}), {x, scale, bias}, {2, 4, 3},
                        wanted);
    if (groups == 4) expect_in_all_types("InstanceNormalization", {}, {x, scale, bias}, {2, 4, 3}, wanted);
  }
  expect_error(ErrorCode::kInvalidModel, "num_groups", "GroupNormalization",
               attributes({{"num_groups", std::int64_t{3}}}), {x, scale, bias});
  expect_error(ErrorCode::kInvalidModel, "num_groups", "GroupNormalization",
               attributes({{"num_groups", std::int64_t{0}}}), {x, scale, bias});
}

TEST(LpNormalization, BothNorms) {
  const Tensor x = floats({2, 2}, {3, -4, 0, 0});
  expect_in_all_types("LpNormalization", {}, {x}, {2, 2}, {0.6, -0.8, 0, 0});
  expect_values(run("LpNormalization", attributes({{"p", std::int64_t{1}}}), {x})[0], {2, 2},
                {3.0 / 7, -4.0 / 7, 0, 0});
  expect_values(run("LpNormalization", attributes({{"axis", std::int64_t{0}}}), {x})[0], {2, 2}, {1, -1, 0, 0});
  expect_error(ErrorCode::kInvalidModel, "'p'", "LpNormalization", attributes({{"p", std::int64_t{3}}}), {x});
}

TEST(MeanVarianceNormalization, AnyAxes) {
  const Tensor x = floats({2, 2, 1, 2}, {1, 3, 0, 4, 5, 7, 0, 4});
  const double s = std::sqrt(5);
  expect_in_all_types("MeanVarianceNormalization", {}, {x}, {2, 2, 1, 2}, {-3 / s, -1 / s, -1, 1, 1 / s, 3 / s, -1, 1});
  expect_values(run("MeanVarianceNormalization", attributes({{"axes", std::vector<std::int64_t>{-1}}}), {x})[0],
                {2, 2, 1, 2}, {-1, 1, -1, 1, -1, 1, -1, 1});
}

TEST(LocalResponseNormalization, WindowsAreCutAtTheBorders) {
  const Tensor x = floats({1, 4, 1}, {1, 2, 3, 4});
  const auto attrs = attributes({{"size", std::int64_t{2}}, {"alpha", 2.0f}, {"beta", 1.0f}, {"bias", 1.0f}});
  expect_in_all_types("LRN", attrs, {x}, {1, 4, 1}, {1.0 / 6, 2.0 / 14, 3.0 / 26, 4.0 / 17});
}

TEST(Dropout, InferenceIsIdentity) {
  const auto outputs = run("Dropout", {}, {floats({3}, {1, 2, 3})}, 2);
  expect_values(outputs[0], {3}, {1, 2, 3});
  expect_values(outputs[1], {3}, {1, 1, 1});
}

TEST(Dropout, TrainingDrawsAsNumPyDoes) {
  // numpy.random.RandomState(0).uniform(0, 1, 5): 0.549, 0.715, 0.603, 0.545, 0.424.
  const auto outputs = run("Dropout", attributes({{"seed", std::int64_t{0}}}),
                           {floats({5}, {1, 2, 3, 4, 5}), floats({}, {0.6f}), tensor<bool>({}, {true})}, 2);
  expect_values(outputs[1], {5}, {0, 1, 1, 0, 0});
  expect_values(outputs[0], {5}, {0, 5, 7.5, 0, 0});
  expect_error(ErrorCode::kInvalidArgument, "ratio", "Dropout", {},
               {floats({1}, {1}), floats({}, {1}), tensor<bool>({}, {true})});
}

}  // namespace
}  // namespace sardonyx::provider::cpu
