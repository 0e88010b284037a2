#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "sardonyx/error.h"

#include "ops/infer_context.h"
#include "ops/op_list.h"

namespace sardonyx::ops {
namespace {

using E = ElementType;
using graph::Attributes;

/// Symbols that all tests share: b (batch), s (sequence).
graph::SymbolTable& symbols() {
  static graph::SymbolTable table;
  return table;
}
const Dim b = symbols().named("b"), s = symbols().named("s");  // symbols 0 and 1

ValueType tensor(E type, std::vector<Dim> dims) { return ValueType::tensor(type, std::move(dims)); }
/// An int64 vector of known values.
ValueType vector(std::vector<Dim> values, E type = E::kInt64) {
  ValueType result = tensor(type, {static_cast<std::int64_t>(values.size())});
  result.values = std::move(values);
  return result;
}
ValueType scalar(Dim value, E type = E::kInt64) {
  ValueType result = tensor(type, {});
  result.values = std::vector<Dim>{std::move(value)};
  return result;
}
ValueType unranked(E type) { return ValueType::unranked(type); }
Attributes with(std::vector<std::pair<std::string, graph::Attribute>> items) {
  Attributes attributes;
  for (auto& [name, value] : items) attributes.set(name, std::move(value));
  return attributes;
}

struct Case {
  std::string name;
  std::string op;
  std::vector<ValueType> inputs;
  std::string type;    ///< output 0 as text; or part of an error
  std::string values;  ///< its known values as text, "" for none
  Attributes attributes = {};
  bool fails = false;
};

std::string values_text(const ValueType& type) {
  std::string text;
  if (!type.values) return text;
  for (const Dim& value : *type.values) text += (text.empty() ? "" : " ") + value.to_string();
  return text;
}

class ArithmeticInference : public testing::TestWithParam<Case> {};

TEST_P(ArithmeticInference, Gives) {
  const Case& test = GetParam();
  const OpDef* op = find_op("", test.op);
  ASSERT_NE(op, nullptr);
  const graph::NodeDesc node{"", test.op, "", &test.attributes, test.inputs, {}, {}};
  InferContext context(node, 1, symbols());
  try {
    op->infer(context);
    EXPECT_FALSE(test.fails);
    EXPECT_EQ(context.outputs()[0].to_string(), test.type);
    EXPECT_EQ(values_text(context.outputs()[0]), test.values);
  } catch (const Error& error) {
    EXPECT_TRUE(test.fails) << error.message();
    EXPECT_NE(error.message().find(test.type), std::string::npos) << error.message();
  }
}

const Case kArithmetic[] = {
    {"AddSymbols", "Add", {vector({b, 3}), scalar(1)}, "int64[2]", "b+1 4"},
    {"SubConstants", "Sub", {scalar(2), scalar(5)}, "int64[]", "-3"},
    {"MulSymbols", "Mul", {scalar(b), scalar(s)}, "int64[]", "b*s"},
    {"MulOverflows", "Mul", {scalar(std::int64_t{1} << 62), scalar(4)}, "int64[]", ""},
    {"Int32Overflows", "Mul", {scalar(1 << 30, E::kInt32), scalar(2, E::kInt32)}, "int32[]", ""},
    {"DivExact", "Div", {scalar(b * 4), scalar(2)}, "int64[]", "2*b"},
    {"DivSize", "Div", {scalar(s), scalar(2)}, "int64[]", "floordiv(s,2)"},
    {"DivTruncates", "Div", {scalar(-7), scalar(2)}, "int64[]", "-3"},
    {"DivByZero", "Div", {scalar(1), scalar(0)}, "int64[]", ""},
    {"ModConstants", "Mod", {scalar(-7), scalar(3)}, "int64[]", "2"},
    {"MaxConstant", "Max", {scalar(3), scalar(5)}, "int64[]", "5"},
    {"NegSymbol", "Neg", {scalar(3)}, "int64[]", "-3"},
    {"EqualUnequal", "Equal", {vector({2, b, b}), vector({2, b, -1})}, "bool[3]", "1 1 0"},
    {"EqualUnknown", "Equal", {vector({b}), vector({2})}, "bool[1]", ""},
    {"WhereChooses", "Where", {vector({0, 1}, E::kBool), vector({b, b}), vector({s, s})}, "int64[2]", "s b"},
    {"CastKeepsValues",
     "Cast",
     {vector({b, 7})},
     "int32[2]",
     "b 7",
     with({{"to", static_cast<std::int64_t>(E::kInt32)}})},
    {"CastToFloatForgets", "Cast", {vector({7})}, "float[1]", "", with({{"to", std::int64_t{1}}})},
    {"CastTooLarge",
     "Cast",
     {vector({std::int64_t{1} << 40})},
     "int32[1]",
     "",
     with({{"to", static_cast<std::int64_t>(E::kInt32)}})},
    {"ProdOfShape", "ReduceProd", {vector({b, 2, s})}, "int64[]", "2*b*s", with({{"keepdims", std::int64_t{0}}})},
    {"BroadcastSymbols", "Add", {tensor(E::kFloat32, {b, 1, 4}), tensor(E::kFloat32, {s, 1})}, "float[b,s,4]", ""},
    {"UnknownRank", "Add", {unranked(E::kFloat32), tensor(E::kFloat32, {2})}, "float[...]", ""},
    {"TypesDiffer", "Add", {tensor(E::kFloat32, {2}), tensor(E::kInt64, {2})}, "one element type", "", {}, true},
    {"PowTypesMayDiffer", "Pow", {tensor(E::kFloat32, {b}), tensor(E::kInt64, {})}, "float[b]", ""},
};
INSTANTIATE_TEST_SUITE_P(Arithmetic, ArithmeticInference, testing::ValuesIn(kArithmetic),
                         [](const auto& info) { return info.param.name; });

const Case kShapes[] = {
    {"MatMulSymbols", "MatMul", {tensor(E::kFloat32, {b, s, 4}), tensor(E::kFloat32, {4, 8})}, "float[b,s,8]", ""},
    {"MatMulVector", "MatMul", {tensor(E::kFloat32, {4}), tensor(E::kFloat32, {b, 4, 8})}, "float[b,8]", ""},
    {"MatMulUnknownRank", "MatMul", {unranked(E::kFloat32), tensor(E::kFloat32, {4, 8})}, "float[...]", ""},
    {"MatMulDiffers",
     "MatMul",
     {tensor(E::kFloat32, {b, 3}), tensor(E::kFloat32, {4, 8})},
     "inner dimensions",
     "",
     {},
     true},
    {"GemmTransposed",
     "Gemm",
     {tensor(E::kFloat32, {4, b}), tensor(E::kFloat32, {8, 4})},
     "float[b,8]",
     "",
     with({{"transA", std::int64_t{1}}, {"transB", std::int64_t{1}}})},
    {"EinsumAttention",
     "Einsum",
     {tensor(E::kFloat32, {b, 12, s, 64}), tensor(E::kFloat32, {b, 12, 7, 64})},
     "float[b,12,s,7]",
     "",
     with({{"equation", std::string("bhqd,bhkd->bhqk")}})},
    {"EinsumEllipsis",
     "Einsum",
     {tensor(E::kFloat32, {b, s, 3}), tensor(E::kFloat32, {3, 5})},
     "float[b,s,5]",
     "",
     with({{"equation", std::string("...i,ij->...j")}})},
    {"ReduceAxes", "ReduceMean", {tensor(E::kFloat32, {b, s, 8}), vector({-1})}, "float[b,s,1]", ""},
    {"ReduceUnknownAxesCount",
     "ReduceSum",
     {tensor(E::kFloat32, {b, s}), tensor(E::kInt64, {s})},
     "float[...]",
     "",
     with({{"keepdims", std::int64_t{0}}})},
    {"ArgMaxDrops",
     "ArgMax",
     {tensor(E::kFloat32, {b, s, 8})},
     "int64[b,s]",
     "",
     with({{"axis", std::int64_t{-1}}, {"keepdims", std::int64_t{0}}})},
    {"TopKSymbol", "TopK", {tensor(E::kFloat32, {b, 8}), vector({s})}, "float[b,s]", ""},
    {"QuantizeType",
     "QuantizeLinear",
     {tensor(E::kFloat32, {b, 8}), tensor(E::kFloat32, {}), tensor(E::kInt4, {})},
     "int4[b,8]",
     ""},
    {"QuantizeBlocks",
     "QuantizeLinear",
     {tensor(E::kFloat32, {8, 10}), tensor(E::kFloat32, {8, 3})},
     "uint8[8,10]",
     "",
     with({{"block_size", std::int64_t{4}}})},
    {"QuantizeBlocksWrong",
     "QuantizeLinear",
     {tensor(E::kFloat32, {8, 10}), tensor(E::kFloat32, {8, 2})},
     "must be equal",
     "",
     with({{"block_size", std::int64_t{4}}}),
     true},
    {"DequantizeType", "DequantizeLinear", {tensor(E::kInt8, {b}), tensor(E::kFloat16, {})}, "float16[b]", ""},
    {"RandomShape", "RandomUniform", {}, "float[2,3]", "", with({{"shape", std::vector<std::int64_t>{2, 3}}})},
    {"MultinomialShape",
     "Multinomial",
     {tensor(E::kFloat32, {b, 9})},
     "int32[b,5]",
     "",
     with({{"sample_size", std::int64_t{5}}})},
};
INSTANTIATE_TEST_SUITE_P(Shapes, ArithmeticInference, testing::ValuesIn(kShapes),
                         [](const auto& info) { return info.param.name; });

/// Truncated division of an expression that may be negative, checked at values of either sign.
TEST(TruncatedDivision, HoldsForEverySign) {
  const std::vector<ValueType> inputs{scalar(b - 10), scalar(4)};
  const Attributes none;
  const graph::NodeDesc node{"", "Div", "", &none, inputs, {}, {}};
  InferContext context(node, 1, symbols());
  find_op("", "Div")->infer(context);
  ASSERT_TRUE(context.outputs()[0].values.has_value());
  for (std::int64_t value = 0; value <= 20; ++value) {
    const std::int64_t at[] = {value, 1};
    EXPECT_EQ(context.outputs()[0].values->front().evaluate(at), (value - 10) / 4) << value;
  }
}

}  // namespace
}  // namespace sardonyx::ops
