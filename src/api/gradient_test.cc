// Gradient (ai.onnx.preview.training): every derivative rule against differences, and what the operator's definition
// says.
#include <cmath>
#include <gtest/gtest.h>

#include "sardonyx/session.h"

#include "onnx/proto_builder.h"

namespace sardonyx::api {
namespace {

using namespace onnx::testing;  // NOLINT(google-build-using-namespace)

constexpr std::int64_t kDouble = 11, kStrings = 8;

std::string strings_attribute(std::string_view name, const std::vector<std::string>& values) {
  return Message().text(1, name).texts(9, values).number(20, kStrings);
}
std::string gradient(const std::vector<std::string>& xs, const std::string& y, const std::vector<std::string>& inputs,
                     const std::vector<std::string>& outputs, const std::vector<std::string>& zs = {}) {
  std::vector<std::string> attributes = {strings_attribute("xs", xs), string_attribute("y", y)};
  if (!zs.empty()) attributes.push_back(strings_attribute("zs", zs));
  return node("Gradient", inputs, outputs, attributes).text(7, "ai.onnx.preview.training");
}

struct Input {
  std::string name;
  Shape shape;
  bool symbolic = false;  ///< the model declares its dimensions as symbols
};

std::string model_bytes(const std::vector<Input>& inputs, const std::vector<std::string>& nodes,
                        const std::vector<std::string>& outputs, const std::vector<std::string>& initializers = {}) {
  GraphParts parts;
  parts.nodes = nodes;
  parts.initializers = initializers;
  std::int64_t symbol = 0;
  for (const Input& input : inputs) {
    std::vector<std::int64_t> dims(input.shape.begin(), input.shape.end());
    for (std::int64_t& dim : dims) dim = input.symbolic ? --symbol : dim;
    parts.inputs.push_back(value_info(input.name, kDouble, dims));
  }
  for (const std::string& output : outputs) parts.outputs.push_back(untyped(output));
  return Message()
      .number(1, 10)
      .text(8, opset("", 20))
      .text(8, opset("ai.onnx.preview.training", 1))
      .text(7, onnx::testing::graph(parts));
}

Session load(const std::string& message, OptimizationLevel level = OptimizationLevel::kAll) {
  SessionOptions options;
  options.optimization_level = level;
  return Session::load(std::as_bytes(std::span(message)), options);
}

using Tensors = std::vector<Tensor>;

Tensors values_of(const std::vector<Input>& inputs) {
  Tensors values;
  std::uint32_t seed = 5;
  for (const Input& input : inputs) {
    Tensor tensor(ElementType::kFloat64, input.shape);
    for (std::int64_t i = 0; i < tensor.num_elements(); ++i) {
      seed = seed * 1664525U + 1013904223U;
      tensor.mutable_data<double>()[i] = 0.5 + static_cast<double>(seed >> 8) / (1 << 24);  // in [0.5, 1.5)
    }
    values.push_back(std::move(tensor));
  }
  return values;
}

std::vector<Value> run(const Session& session, const std::vector<Input>& inputs, const Tensors& values) {
  NamedValues named;
  for (std::size_t i = 0; i < inputs.size(); ++i) named.emplace_back(inputs[i].name, values[i]);
  return session.run(named);
}

double sum(const Tensor& tensor) {
  double total = 0;
  for (const double value : tensor.span<double>()) total += value;
  return total;
}

struct Case {
  std::string name;
  std::vector<Input> inputs;
  std::vector<std::string> nodes;  ///< of inputs, to "y"
  std::vector<std::string> initializers = {};
};

class GradientRule : public testing::TestWithParam<Case> {};

TEST_P(GradientRule, IsWhatDifferencesSay) {
  const Case& c = GetParam();
  std::vector<std::string> xs, outputs = {"y"};
  for (const Input& input : c.inputs) {
    xs.push_back(input.name);
    outputs.push_back("d" + input.name);
  }
  std::vector<std::string> nodes = c.nodes;
  nodes.push_back(gradient(xs, "y", xs, {outputs.begin() + 1, outputs.end()}));
  const std::string message = model_bytes(c.inputs, nodes, outputs, c.initializers);
  for (const OptimizationLevel level : {OptimizationLevel::kDisable, OptimizationLevel::kAll}) {
    const Session session = load(message, level);
    Tensors values = values_of(c.inputs);
    const std::vector<Value> found = run(session, c.inputs, values);
    for (std::size_t i = 0; i < c.inputs.size(); ++i) {
      ASSERT_EQ(found[i + 1].tensor().shape(), c.inputs[i].shape);
      for (std::int64_t at = 0; at < values[i].num_elements(); ++at) {
        constexpr double kStep = 1e-6;
        double& element = values[i].mutable_data<double>()[at];
        const double before = element;
        element = before + kStep;
        const double above = sum(run(session, c.inputs, values)[0].tensor());
        element = before - kStep;
        const double below = sum(run(session, c.inputs, values)[0].tensor());
        element = before;
        EXPECT_NEAR(found[i + 1].tensor().data<double>()[at], (above - below) / (2 * kStep), 1e-6)
            << c.inputs[i].name << "[" << at << "]";
      }
    }
  }
}

std::vector<Case> rule_cases() {
  std::vector<Case> cases;
  for (const char* op : {"Abs", "Cos", "Exp", "Identity", "LeakyRelu", "Log", "Neg", "Reciprocal", "Relu", "Sigmoid",
                         "Sin", "Softplus", "Sqrt", "Tanh"}) {
    cases.push_back({op, {{"x", {2, 3}}}, {node(op, {"x"}, {"y"})}});
  }
  for (const char* op : {"Add", "Sub", "Mul", "Div", "Pow"}) {
    cases.push_back({std::string(op) + "Same", {{"a", {2, 3}}, {"b", {2, 3}}}, {node(op, {"a", "b"}, {"y"})}});
    cases.push_back({std::string(op) + "Broadcast", {{"a", {2, 1, 3}}, {"b", {4, 1}}}, {node(op, {"a", "b"}, {"y"})}});
    cases.push_back(
        {std::string(op) + "Symbolic", {{"a", {2, 1, 3}, true}, {"b", {4, 1}, true}}, {node(op, {"a", "b"}, {"y"})}});
  }
  const std::string axes = ints("axes", {1});
  const auto squared = [](const std::string& from) { return node("Mul", {from, from}, {"y"}); };
  const std::vector<Case> more = {
      {"Square", {{"x", {3}}}, {node("Mul", {"x", "x"}, {"y"})}},
      {"MatMul", {{"a", {2, 3}}, {"b", {3, 4}}}, {node("MatMul", {"a", "b"}, {"p"}), squared("p")}},
      {"MatMulBatches", {{"a", {2, 1, 2, 3}}, {"b", {4, 3, 2}}}, {node("MatMul", {"a", "b"}, {"p"}), squared("p")}},
      {"Gemm",
       {{"a", {2, 3}}, {"b", {3, 4}}, {"c", {4}}},
       {node("Gemm", {"a", "b", "c"}, {"p"}, {float_attribute("alpha", 0.5F), float_attribute("beta", 2)}),
        squared("p")}},
      {"GemmTransposed",
       {{"a", {3, 2}}, {"b", {4, 3}}, {"c", {2, 1}}},
       {node("Gemm", {"a", "b", "c"}, {"p"}, {int_attribute("transA", 1), int_attribute("transB", 1)}), squared("p")}},
      {"ReduceSumKept", {{"x", {2, 3}}}, {node("ReduceSum", {"x", "axes"}, {"s"}), squared("s")}, {axes}},
      {"ReduceSumDropped",
       {{"x", {2, 3}}},
       {node("ReduceSum", {"x", "axes"}, {"s"}, {int_attribute("keepdims", 0)}), squared("s")},
       {axes}},
      {"ReduceMeanAll",
       {{"x", {2, 3}}},
       {node("ReduceMean", {"x"}, {"s"}, {int_attribute("keepdims", 0)}), squared("s")}},
      {"ReduceMeanKept", {{"x", {2, 3}}}, {node("ReduceMean", {"x", "axes"}, {"s"}), squared("s")}, {axes}},
      {"Softmax", {{"x", {2, 3}}}, {node("Softmax", {"x"}, {"s"}), squared("s")}},
      {"Reshape", {{"x", {2, 3}}}, {node("Reshape", {"x", "to"}, {"s"}), squared("s")}, {ints("to", {3, 2})}},
      {"Flatten", {{"x", {2, 3, 2}}}, {node("Flatten", {"x"}, {"s"}), squared("s")}},
      {"Unsqueeze", {{"x", {2, 3}}}, {node("Unsqueeze", {"x", "axes"}, {"s"}), squared("s")}, {axes}},
      {"Squeeze", {{"x", {2, 1, 3}}}, {node("Squeeze", {"x", "axes"}, {"s"}), squared("s")}, {axes}},
      {"Transpose",
       {{"x", {2, 3, 4}}, {"w", {4, 2, 3}}},
       {node("Transpose", {"x"}, {"t"}, {ints_attribute("perm", {2, 0, 1})}), node("Mul", {"t", "w"}, {"y"})}},
      {"Expand", {{"x", {2, 1}}}, {node("Expand", {"x", "to"}, {"s"}), squared("s")}, {ints("to", {3, 2, 2})}},
      {"Where",
       {{"a", {2, 3}}, {"b", {3}}},
       {node("Greater", {"a", "b"}, {"c"}), node("Where", {"c", "a", "b"}, {"s"}), squared("s")}},
      {"Cast", {{"x", {2, 3}}}, {node("Cast", {"x"}, {"s"}, {int_attribute("to", kDouble)}), squared("s")}},
      {"ReadTwice",
       {{"x", {3}}},
       {node("Exp", {"x"}, {"e"}), node("Add", {"e", "x"}, {"s"}), node("Mul", {"s", "e"}, {"y"})}},
      {"NotReached", {{"x", {3}}, {"w", {2}}}, {node("Exp", {"x"}, {"y"})}},
  };
  cases.insert(cases.end(), more.begin(), more.end());
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Operators, GradientRule, testing::ValuesIn(rule_cases()),
                         [](const auto& info) { return info.param.name; });

TEST(Gradient, IsTakenWhereTheInputsSay) {
  // y = x², asked for at 10 instead of at x.
  const std::vector<Input> inputs = {{"x", {1}}, {"at", {1}}};
  const Session session =
      load(model_bytes(inputs, {node("Mul", {"x", "x"}, {"y"}), gradient({"x"}, "y", {"at"}, {"d"})}, {"y", "d"}));
  Tensors values = values_of(inputs);
  values[0].mutable_data<double>()[0] = 3;
  values[1].mutable_data<double>()[0] = 10;
  const std::vector<Value> found = run(session, inputs, values);
  EXPECT_EQ(found[0].tensor().data<double>()[0], 9);
  EXPECT_EQ(found[1].tensor().data<double>()[0], 20);
}

TEST(Gradient, CanBeTakenOfAGradient) {
  // y = x³: 3x², then 6x.
  const std::vector<Input> inputs = {{"x", {2}}};
  const Session session =
      load(model_bytes(inputs,
                       {node("Mul", {"x", "x"}, {"s"}), node("Mul", {"s", "x"}, {"y"}),
                        gradient({"x"}, "y", {"x"}, {"first"}), gradient({"x"}, "first", {"x"}, {"second"})},
                       {"first", "second"}));
  const Tensors values = values_of(inputs);
  const std::vector<Value> found = run(session, inputs, values);
  for (std::int64_t i = 0; i < 2; ++i) {
    const double x = values[0].data<double>()[i];
    EXPECT_NEAR(found[0].tensor().data<double>()[i], 3 * x * x, 1e-12);
    EXPECT_NEAR(found[1].tensor().data<double>()[i], 6 * x, 1e-12);
  }
}

TEST(Gradient, FaultsNameWhatIsWrong) {
  const std::vector<Input> inputs = {{"x", {2}}};
  const auto message_of = [&](const std::vector<std::string>& nodes) {
    try {
      load(model_bytes(inputs, nodes, {"d"}));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(message_of({node("Exp", {"x"}, {"y"}), gradient({"w"}, "y", {"x"}, {"d"})}).find("'w'"), std::string::npos);
  EXPECT_NE(message_of({node("Exp", {"x"}, {"y"}), gradient({"x"}, "z", {"x"}, {"d"})}).find("'z'"), std::string::npos);
  EXPECT_NE(message_of({node("Exp", {"x"}, {"y"}), gradient({"x"}, "y", {"x", "x"}, {"d"})})
                .find("expected an input for each"),
            std::string::npos);
  EXPECT_NE(message_of({node("Erf", {"x"}, {"y"}), gradient({"x"}, "y", {"x"}, {"d"})}).find("Erf"), std::string::npos);
}

}  // namespace
}  // namespace sardonyx::api
