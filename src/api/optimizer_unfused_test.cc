// What fusions must leave alone.
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "api/optimizer_case.h"

namespace sardonyx::api {
namespace {

using namespace optimizer_test;  // NOLINT(google-build-using-namespace)

/// Patterns that look right and aren't: fusing them would change an answer.
class Unfused : public testing::TestWithParam<Case> {};

TEST_P(Unfused, StaysAsItIs) {
  const Case& c = GetParam();
  SessionOptions plain;
  plain.optimization_level = OptimizationLevel::kDisable;
  const Session optimized = load(c, {});
  EXPECT_EQ(count_op(optimized, c.op), c.with);
  expect_near(run(load(c, plain), c), run(optimized, c));
}

std::vector<Case> unfused_cases() {
  const std::vector<Feed> rows = {{"x", {2, 3, 4}}};
  const auto number = [](const char* name, float value) { return float_tensor(name, {}, {value}); };
  Case inner_read = Attention{}.make("AttentionWhoseWeightsAreReadToo", 0);
  inner_read.nodes.back() = node("Reshape", {"o4", "join"}, {"joined"});
  inner_read.nodes.push_back(node("ReduceSum", {"p"}, {"total"}, {int_attribute("keepdims", 0)}));
  inner_read.nodes.push_back(node("Add", {"joined", "total"}, {"y"}));
  return {
      inner_read,
      {"GeluOfAnotherConstant",
       "",
       "Gelu",
       0,
       0,
       rows,
       {node("Div", {"x", "root2"}, {"a"}), node("Erf", {"a"}, {"b"}), node("Add", {"b", "one"}, {"c"}),
        node("Mul", {"x", "c"}, {"d"}), node("Mul", {"d", "half"}, {"y"})},
       {number("root2", 1.5F), number("one", 1), number("half", 0.5F)}},
      {"TanhGeluOfAnotherPower", "", "Gelu", 0, 0, rows, tanh_gelu_nodes(), tanh_gelu_constants(2)},
      {"TanhGeluOfAnotherFactor", "", "Gelu", 0, 0, rows, tanh_gelu_nodes(), tanh_gelu_constants(3, 0.05F)},
      {"CastWeightsOfAnotherScale",
       "",
       "DequantizeLinear",
       0,
       0,
       {{"x", {3, 40}}},
       {node("Cast", {"table"}, {"a"}, {int_attribute("to", 1)}), node("Mul", {"a", "scale"}, {"w"}),
        node("MatMul", {"x", "w"}, {"y"})},
       {table("table", {40, 32}), weights("scale", {40, 32})}},
      {"HardSwishOfAnotherShift",
       "",
       "HardSwish",
       0,
       0,
       rows,
       {node("Add", {"x", "two"}, {"a"}), node("Clip", {"a", "zero", "six"}, {"b"}), node("Mul", {"x", "b"}, {"c"}),
        node("Div", {"c", "six"}, {"y"})},
       {number("two", 2), number("zero", 0), number("six", 6)}},
      {"HardSwishOfAnotherFactor",
       "",
       "HardSwish",
       0,
       0,
       {{"x", {2, 4}}, {"z", {2, 4}}},
       {node("Add", {"x", "three"}, {"a"}), node("Clip", {"a", "zero", "six"}, {"b"}), node("Mul", {"z", "b"}, {"c"}),
        node("Div", {"c", "six"}, {"y"})},
       {number("three", 3), number("zero", 0), number("six", 6)}},
      {"HardSigmoidOfAnotherSlope",
       "",
       "HardSwish",
       0,
       0,
       rows,
       {node("HardSigmoid", {"x"}, {"a"}), node("Mul", {"a", "x"}, {"y"})},
       {}},
      {"SigmoidOfAnotherFactor",
       "",
       "Swish",
       0,
       0,
       {{"x", {2, 4}}, {"z", {2, 4}}},
       {node("Sigmoid", {"x"}, {"a"}), node("Mul", {"z", "a"}, {"y"})},
       {}},
      {"ScaleOfAConvPerColumn",
       "",
       "Mul",
       1,
       1,
       {{"x", {1, 2, 5, 5}}},
       {node("Conv", {"x", "w"}, {"a"}), node("Mul", {"a", "columns"}, {"y"})},
       {weights("w", {3, 2, 3, 3}), float_tensor("columns", {3}, {1, 2, 3})}},
      {"ScaleThatBroadcastsAConv",
       "",
       "Mul",
       1,
       1,
       {{"x", {1, 2, 5, 5}}},
       {node("Conv", {"x", "w"}, {"a"}), node("Mul", {"a", "wide"}, {"y"})},
       {weights("w", {3, 2, 3, 3}), float_tensor("wide", {1, 1, 1, 1, 1}, {2})}},
      {"ScaleOfAConvReadTwice",
       "",
       "Mul",
       1,
       1,
       {{"x", {1, 2, 5, 5}}},
       {node("Conv", {"x", "w"}, {"a"}), node("Mul", {"a", "two"}, {"b"}), node("Sub", {"a", "b"}, {"y"})},
       {weights("w", {3, 2, 3, 3}), number("two", 2)}},
      {"BiasThatBroadcastsTheProduct",
       "",
       "FusedMatMul",
       0,
       0,
       {{"x", {2, 4}}},
       {node("MatMul", {"x", "w"}, {"a"}), node("Add", {"a", "bias"}, {"y"})},
       {weights("w", {4, 5}), weights("bias", {3, 1, 5})}},
      {"ResidualReadTwice",
       "",
       "FusedMatMul",
       0,
       0,
       rows,
       {node("MatMul", {"x", "w"}, {"a"}), node("Add", {"a", "a"}, {"y"})},
       {weights("w", {4, 4})}},
      {"BatchNormOfAConvReadTwice",
       "",
       "BatchNormalization",
       1,
       1,
       {{"x", {1, 2, 5, 5}}},
       {node("Conv", {"x", "w"}, {"a"}), node("BatchNormalization", {"a", "scale", "bias", "mean", "var"}, {"b"}),
        node("Add", {"a", "b"}, {"y"})},
       {weights("w", {2, 2, 3, 3}), float_tensor("scale", {2}, {1, 2}), float_tensor("bias", {2}, {0, 1}),
        float_tensor("mean", {2}, {0.1F, 0.2F}), float_tensor("var", {2}, {1, 0.5})}},
  };
}

INSTANTIATE_TEST_SUITE_P(Patterns, Unfused, testing::ValuesIn(unfused_cases()), name_of);

TEST(AttentionFusion, AQueryWithoutKeysGivesWhatTheGraphSaid) {
  for (const bool zeroed : {false, true}) {
    Case c = Attention{.scale_both = true, .zero_where_nan = zeroed, .mask = {2, 1, 3, 5}}.make("");
    c.inputs.pop_back();
    std::vector<float> mask(15);
    std::fill_n(mask.begin() + 5, 5, -std::numeric_limits<float>::infinity());
    c.initializers.push_back(float_tensor("mask", {1, 1, 3, 5}, mask));
    const Session session = load(c, {});
    EXPECT_EQ(count_op(session, "FusedAttention"), 1U);
    const std::vector<float> found = run(session, c);
    for (std::size_t i = 0; i < 8; ++i) EXPECT_TRUE(zeroed ? found[8 + i] == 0 : std::isnan(found[8 + i])) << i;
    SessionOptions plain;
    plain.optimization_level = OptimizationLevel::kDisable;
    expect_near(run(load(c, plain), c), found);
  }
}

}  // namespace
}  // namespace sardonyx::api
