#include "ops/signatures.h"

#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "sardonyx/error.h"

#include "ops/op_list.h"

namespace sardonyx::ops {
namespace {

using graph::Attributes;
using graph::ValueType;

ValueType tensor(ElementType type) { return ValueType::tensor(type, {2, 3}); }
const ValueType kFloat = tensor(ElementType::kFloat32), kInt = tensor(ElementType::kInt64),
                kText = tensor(ElementType::kString);
const ValueType kLeftOut;

struct Case {
  std::string name;
  std::string op;
  std::vector<ValueType> inputs;
  std::size_t outputs = 1;
  Attributes attributes;
  std::string error;  ///< text the message must hold; empty: passes
  std::string domain = "";
};

Attributes with(std::string name, graph::Attribute value) {
  Attributes attributes;
  attributes.set(std::move(name), std::move(value));
  return attributes;
}

const Case kCases[] = {
    {"Right", "Add", {kFloat, kFloat}},
    {"UnknownElementType", "Add", {tensor(ElementType::kUndefined), kFloat}},
    {"TooFewInputs", "Add", {kFloat}, 1, {}, "needs at least 2 inputs, found 1"},
    {"TooManyInputs", "Add", {kFloat, kFloat, kFloat}, 1, {}, "at most 2 inputs, found 3"},
    {"TooManyOutputs", "Add", {kFloat, kFloat}, 2, {}, "at most 1 outputs, found 2"},
    {"RequiredLeftOut", "Add", {kFloat, kLeftOut}, 1, {}, "input 1 (B) of Add is required and left out"},
    {"OptionalLeftOut", "Clip", {kFloat, kLeftOut, kFloat}},
    {"WrongType", "Add", {kText, kText}, 1, {}, "found string[2,3]"},
    {"TypesDiffer", "Add", {kFloat, kInt}, 1, {}, "inputs 0 and 1 of Add must have one element type (T)"},
    {"FixedType",
     "ReduceSum",
     {kFloat, kFloat},
     1,
     {},
     "input 1 (axes) of ReduceSum must be one of int64; found float[2,3]"},
    {"VariadicNone", "Concat", {}, 1, with("axis", std::int64_t{0}), "needs at least 1 inputs"},
    {"VariadicMany", "Concat", {kFloat, kFloat, kFloat}, 1, with("axis", std::int64_t{0})},
    {"VariadicDiffers", "Concat", {kFloat, kFloat, kInt}, 1, with("axis", std::int64_t{0}), "inputs 0 and 2"},
    {"RequiredAttribute", "Concat", {kFloat}, 1, {}, "Concat needs attribute 'axis' (int)"},
    {"UnknownAttribute", "Add", {kFloat, kFloat}, 1, with("axis", std::int64_t{0}), "Add has no attribute 'axis'"},
    {"PrivateAttribute", "Add", {kFloat, kFloat}, 1, with("_note", std::int64_t{0})},
    {"AttributeKind",
     "Concat",
     {kFloat},
     1,
     with("axis", 1.0f),
     "attribute 'axis' of Concat must be of kind int, found float"},
    {"Sequence", "SequenceLength", {ValueType::sequence(kFloat)}},
    {"TensorForSequence", "SequenceLength", {kFloat}, 1, {}, "found float[2,3]"},
    {"OptionalHoldsTensor", "OptionalGetElement", {ValueType::optional(kFloat)}},
    {"MapInput", "CastMap", {ValueType::map(ElementType::kInt64, kFloat)}, 1, {}, "", "ai.onnx.ml"},
    {"OutsideTheStandard", "Anything", {}, 7, with("x", 1.0f), "", "com.example"},
};

class CheckSignature : public testing::TestWithParam<Case> {};

TEST_P(CheckSignature, Answers) {
  const Case& test = GetParam();
  graph::NodeDesc node{
      .domain = test.domain, .op_type = test.op, .attributes = &test.attributes, .inputs = test.inputs};
  std::string message;
  try {
    check_signature(node, test.outputs);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidModel);
    message = error.message();
  }
  if (test.error.empty())
    EXPECT_EQ(message, "");
  else
    EXPECT_NE(message.find(test.error), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(Cases, CheckSignature, testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

TEST(FindSignature, KnowsEveryStandardOperatorThatIsDefined) {
  for (const OpDef& op : all_ops()) {
    const bool standard = op.domain.empty() || op.domain.starts_with("ai.onnx");
    EXPECT_EQ(find_signature(op.domain, op.name) != nullptr, standard) << op.domain << " " << op.name;
  }
}

TEST(FindSignature, HasPortsTypesAndAttributes) {
  const Signature* gemm = find_signature("", "Gemm");
  ASSERT_NE(gemm, nullptr);
  ASSERT_EQ(gemm->inputs.size(), 3u);
  EXPECT_EQ(gemm->inputs[2].name, "C");
  EXPECT_EQ(gemm->inputs[2].kind, Port::Kind::kOptional);
  EXPECT_EQ(gemm->inputs[2].type, "T");
  ASSERT_EQ(gemm->type_variables.size(), 1u);
  EXPECT_EQ(gemm->type_variables[0].types.size(), 8u);
  EXPECT_EQ(gemm->attributes.size(), 4u);
  EXPECT_EQ(find_signature("", "NoSuchOperator"), nullptr);
}

}  // namespace
}  // namespace sardonyx::ops
