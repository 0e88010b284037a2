#include <cmath>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "sardonyx/error.h"

#include "provider/cpu/cpu_provider.h"
#include "provider/cpu/ops/op_case.h"
#include "provider/evaluate.h"

namespace sardonyx::provider::cpu {
namespace {

using E = ElementType;

std::vector<double> draw(const std::string& op, graph::Attributes attributes, const std::vector<Value>& inputs = {}) {
  const CpuProvider cpu;
  return to_doubles(evaluate_node(cpu, "", op, attributes, inputs, 1)[0].tensor().view());
}

graph::Attributes with_shape(std::vector<std::pair<std::string, graph::Attribute>> more) {
  more.emplace_back("shape", std::vector<std::int64_t>{200, 100});
  return attributes(std::move(more));
}

struct Moments {
  double mean = 0, deviation = 0;
};
Moments moments(const std::vector<double>& values) {
  Moments result;
  for (double value : values) result.mean += value / static_cast<double>(values.size());
  for (double value : values)
    result.deviation += (value - result.mean) * (value - result.mean) / static_cast<double>(values.size());
  result.deviation = std::sqrt(result.deviation);
  return result;
}

TEST(RandomUniform, FillsItsRange) {
  const auto values = draw("RandomUniform", with_shape({{"low", -2.0f}, {"high", 4.0f}, {"seed", 7.0f}}));
  ASSERT_EQ(values.size(), 20000u);
  for (double value : values) EXPECT_TRUE(value >= -2 && value <= 4) << value;
  EXPECT_NEAR(moments(values).mean, 1, 0.06);
  EXPECT_NEAR(moments(values).deviation, 6 / std::sqrt(12.0), 0.06);
}

TEST(RandomNormal, HasMeanAndScale) {
  const auto found = moments(draw("RandomNormal", with_shape({{"mean", 3.0f}, {"scale", 0.5f}, {"seed", 1.0f}})));
  EXPECT_NEAR(found.mean, 3, 0.02);
  EXPECT_NEAR(found.deviation, 0.5, 0.02);
}

TEST(Random, SeedsRepeatAndDiffer) {
  const auto seeded = [](float seed) { return draw("RandomUniform", with_shape({{"seed", seed}})); };
  EXPECT_EQ(seeded(1), seeded(1));
  EXPECT_NE(seeded(1), seeded(2));
  EXPECT_NE(draw("RandomUniform", with_shape({})), draw("RandomUniform", with_shape({})));
}

TEST(RandomLike, TakesTypeAndShape) {
  const CpuProvider cpu;
  const Value input[] = {Tensor(E::kFloat16, {3, 5})};
  const Value out = evaluate_node(cpu, "", "RandomNormalLike", {}, input, 1)[0];
  EXPECT_EQ(out.tensor().type(), E::kFloat16);
  EXPECT_EQ(out.tensor().shape(), (Shape{3, 5}));
  const Value integers[] = {Tensor(E::kInt32, {3})};
  EXPECT_THROW(evaluate_node(cpu, "", "RandomNormalLike", {}, integers, 1), Error);
}

TEST(Bernoulli, DrawsOnesByProbability) {
  std::vector<double> p(10000, 0.25);
  p[0] = 0;
  p[1] = 1;
  const Value input = to_tensor({E::kFloat32, {10000}, p});
  const auto values =
      draw("Bernoulli", attributes({{"seed", 3.0f}, {"dtype", static_cast<std::int64_t>(E::kBool)}}), {input});
  EXPECT_EQ(values[0], 0);
  EXPECT_EQ(values[1], 1);
  EXPECT_NEAR(moments(values).mean, 0.25, 0.02);
}

TEST(Multinomial, DrawsByLogProbabilities) {
  const Value input = to_tensor(
      {E::kFloat32, {2, 3}, {std::log(1.0), std::log(3.0), -std::numeric_limits<double>::infinity(), 0, 0, 500}});
  const auto values = draw("Multinomial", attributes({{"seed", 5.0f}, {"sample_size", std::int64_t{4000}}}), {input});
  ASSERT_EQ(values.size(), 8000u);
  double ones = 0;
  for (std::size_t i = 0; i < 4000; ++i) {
    EXPECT_NE(values[i], 2);
    ones += values[i];
    EXPECT_EQ(values[4000 + i], 2);
  }
  EXPECT_NEAR(ones / 4000, 0.75, 0.03);
}

}  // namespace
}  // namespace sardonyx::provider::cpu
