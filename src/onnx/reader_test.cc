#include "onnx/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "onnx/proto_builder.h"

namespace sardonyx::onnx {
namespace {

using namespace testing;  // NOLINT: the message builders
using ::testing::ElementsAre;
using ::testing::HasSubstr;

graph::Model read_checked(const std::string& bytes, const ReadOptions& options = {}) {
  graph::Model model = read(bytes, options);
  graph::verify(model);
  return model;
}

std::vector<std::string> operators(const graph::Graph& graph) {
  std::vector<std::string> names;
  for (graph::NodeId id : graph.order()) names.push_back(graph.node(id).op_type);
  return names;
}

const graph::Node& node_at(const graph::Graph& graph, std::size_t i) { return graph.node(graph.order()[i]); }

TEST(Reader, KeepsWhatTheFileSaysOfItself) {
  const std::string file =
      Message(model(graph({{node("Relu", {"x"}, {"y"})}, {}, {value_info("x", 1, {-1, 3})}, {untyped("y")}})))
          .text(2, "maker")
          .text(3, "1.2")
          .number(5, 7)
          .text(6, "doc")
          .text(14, Message().text(1, "key").text(2, "value"));
  const graph::Model model = read_checked(file);
  EXPECT_EQ(model.producer_name, "maker");
  EXPECT_EQ(model.producer_version, "1.2");
  EXPECT_EQ(model.model_version, 7);
  EXPECT_EQ(model.doc_string, "doc");
  EXPECT_EQ(model.metadata.at("key"), "value");
  EXPECT_EQ(model.opsets.at(""), 21);
  EXPECT_EQ(model.graph.value(model.graph.inputs[0]).type.to_string(), "float[d1,3]");
  EXPECT_THAT(model.graph.output_names, ElementsAre("y"));
}

TEST(Reader, SortsNodesAndKeepsAnyBytesInNames) {
  const std::string odd("a\0\xff b", 5);
  const graph::Model model = read_checked(onnx::testing::model(
      graph({{node("Abs", {odd}, {"y"}), node("Relu", {"x"}, {odd})}, {}, {value_info("x", 1, {2})}, {untyped("y")}})));
  EXPECT_THAT(operators(model.graph), ElementsAre("Relu", "Abs"));
  EXPECT_EQ(model.graph.value(node_at(model.graph, 0).outputs[0]).name, odd);
}

TEST(Reader, SameOutputTwice) {
  const graph::Model model = read_checked(onnx::testing::model(graph(
      {{node("Relu", {"x"}, {"y"})}, {}, {value_info("x", 1, {2})}, {untyped("y"), untyped("y"), untyped("x")}})));
  EXPECT_THAT(model.graph.output_names, ElementsAre("y", "y", "x"));
  EXPECT_EQ(model.graph.outputs[0], model.graph.outputs[1]);
  EXPECT_EQ(model.graph.outputs[2], model.graph.inputs[0]);
}

TEST(Reader, InitializersThatAreInputs) {
  const GraphParts parts{{node("Add", {"x", "w"}, {"y"})},
                         {float_tensor("w", {1}, {2})},
                         {value_info("x", 1, {2}), value_info("w", 1, {1})},
                         {untyped("y")}};
  const graph::Model with_default = read_checked(model(graph(parts), 13, 4));
  EXPECT_THAT(with_default.graph.input_names, ElementsAre("x", "w"));
  ASSERT_NE(with_default.graph.input_defaults[1], graph::kNoConst);
  EXPECT_EQ(with_default.constant(with_default.graph.input_defaults[1]).data<float>()[0], 2);
  EXPECT_FALSE(with_default.graph.value(with_default.graph.inputs[1]).is_constant());
  const graph::Model old = read_checked(model(graph(parts), 13, 3));
  EXPECT_THAT(old.graph.input_names, ElementsAre("x"));
  EXPECT_TRUE(old.graph.value(node_at(old.graph, 0).inputs[1]).is_constant());
}

TEST(Reader, ConstantNodesOfEveryForm) {
  const std::string strings = Message().text(1, "value_strings").text(9, "a").text(9, "b").number(20, 8);
  const std::string floats = Message().text(1, "value_floats").real(7, 1.5f).number(20, 6);
  const std::string sparse = Message()
                                 .text(1, float_tensor("", {2}, {5, 6}))
                                 .text(2, tensor_header("", 7, {2}).numbers(7, {1, 3}))
                                 .number(3, 4);
  struct Case {
    std::string attribute, type;
  };
  const Case cases[] = {
      {tensor_attribute("value", float_tensor("", {2}, {1, 2})), "float[2]"},
      {Message().text(1, "sparse_value").text(22, sparse).number(20, 11), "float[4]"},
      {int_attribute("value_int", 3), "int64[]"},
      {float_attribute("value_float", 3), "float[]"},
      {string_attribute("value_string", "s"), "string[]"},
      {ints_attribute("value_ints", {1, 2, 3}), "int64[3]"},
      {ints_attribute("value_ints", {}), "int64[0]"},
      {floats, "float[1]"},
      {strings, "string[2]"},
  };
  for (const Case& c : cases) {
    const graph::Model model = read_checked(
        onnx::testing::model(graph({{node("Constant", {}, {"y"}, {c.attribute})}, {}, {}, {untyped("y")}})));
    EXPECT_EQ(model.graph.order().size(), 0u);
    const graph::ValueInfo& value = model.graph.value(model.graph.outputs[0]);
    EXPECT_TRUE(value.is_constant());
    EXPECT_EQ(value.type.to_string(), c.type);
  }
}

TEST(Reader, SparseInitializersBecomeDense) {
  const Message values = tensor_header("w", 7, {2}).numbers(7, {5, -6});
  const Message indices = tensor_header("", 7, {2, 2}).numbers(7, {0, 1, 1, 2});
  const std::string sparse = Message().text(1, values).text(2, indices).numbers(3, {2, 3});
  const graph::Model model =
      read_checked(onnx::testing::model(graph({{node("Identity", {"w"}, {"y"})}, {}, {}, {untyped("y")}, {sparse}})));
  const Tensor* dense = model.constant_of(model.graph, node_at(model.graph, 0).inputs[0]);
  ASSERT_TRUE(dense);
  EXPECT_EQ(dense->shape(), Shape({2, 3}));
  EXPECT_THAT(dense->span<std::int64_t>(), ElementsAre(0, 5, 0, 0, 0, -6));
}

/// If(c) { add(x, w) } else { If(c) { y } else { x } }, where y is made behind the If in the file.
std::string nested_if() {
  const std::string inner_then = graph({{node("Identity", {"y"}, {"it"})}, {}, {}, {untyped("it")}}, "inner_then");
  const std::string inner_else = graph({{node("Identity", {"x"}, {"ie"})}, {}, {}, {untyped("ie")}}, "inner_else");
  const std::string inner_if = node(
      "If", {"c"}, {"e"}, {graph_attribute("then_branch", inner_then), graph_attribute("else_branch", inner_else)});
  const std::string then_graph = graph({{node("Add", {"x", "w"}, {"t"})}, {}, {}, {untyped("t")}}, "then");
  const std::string else_graph = graph({{inner_if}, {}, {}, {untyped("e")}}, "else");
  const std::string outer = node(
      "If", {"c"}, {"z"}, {graph_attribute("then_branch", then_graph), graph_attribute("else_branch", else_graph)});
  return model(graph({{outer, node("Relu", {"x"}, {"y"})},
                      {float_tensor("w", {1}, {2})},
                      {value_info("x", 1, {2}), value_info("c", 9, {})},
                      {untyped("z")}}));
}

TEST(Reader, SubgraphsAreClosed) {
  const graph::Model model = read_checked(nested_if());
  EXPECT_THAT(operators(model.graph), ElementsAre("Relu", "If"));  // the If reads y only inside
  const graph::Node& outer = node_at(model.graph, 1);
  EXPECT_EQ(outer.captures, 3);  // x, c, y; w is a constant in the body
  ASSERT_EQ(outer.inputs.size(), 4u);
  const graph::Graph& then_graph = *outer.attributes.graph("then_branch");
  EXPECT_EQ(then_graph.inputs.size(), 3u);
  EXPECT_TRUE(then_graph.value(node_at(then_graph, 0).inputs[1]).is_constant());
  const graph::Graph& else_graph = *outer.attributes.graph("else_branch");
  const graph::Node& inner = node_at(else_graph, 0);
  EXPECT_EQ(inner.captures, 2);
  EXPECT_EQ(else_graph.value(inner.inputs[1]).name, "y");
}

TEST(Reader, LoopKeepsItsInputsBeforeCaptures) {
  const std::string body = graph({{node("Identity", {"cond"}, {"cond_out"}), node("Relu", {"x"}, {"r"})},
                                  {},
                                  {value_info("i", 7, {}), value_info("cond", 9, {})},
                                  {untyped("cond_out"), untyped("r")}},
                                 "body");
  const graph::Model model =
      read_checked(onnx::testing::model(graph({{node("Loop", {"n"}, {"rows"}, {graph_attribute("body", body)})},
                                               {},
                                               {value_info("n", 7, {}), value_info("x", 1, {2})},
                                               {untyped("rows")}})));
  const graph::Node& loop = node_at(model.graph, 0);
  ASSERT_EQ(loop.inputs.size(), 3u);
  EXPECT_EQ(loop.inputs[1], graph::kNoValue);
  EXPECT_EQ(loop.captures, 1);
}

Message function(std::string_view name, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
                 const std::vector<std::string>& nodes, std::int64_t version = 21) {
  return Message()
      .text(1, name)
      .texts(4, inputs)
      .texts(5, outputs)
      .texts(7, nodes)
      .text(9, opset("", version))
      .text(10, "local");
}

Message call(std::string_view name, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
             const std::vector<std::string>& attributes = {}) {
  return Message(node(name, inputs, outputs, attributes)).text(7, "local").text(3, std::string("call_") + outputs[0]);
}

TEST(Reader, FunctionsAreInlined) {
  const std::string inner =
      Message(function("Inner", {"a", "b"}, {"r"},
                       {node("LeakyRelu", {"a"}, {"t"}, {reference_attribute("alpha", "slope", 1)}),
                        node("Add", {"t", "a"}, {"r"})}))
          .text(11, float_attribute("slope", 0.25f));
  const std::string outer =
      function("Outer", {"a"}, {"r"},
               {call("Inner", {"a"}, {"t"}), call("Inner", {"t", "a"}, {"r"}, {float_attribute("slope", 0.5f)})});
  const std::string file =
      Message(model(graph({{call("Outer", {"x"}, {"y"})}, {}, {value_info("x", 1, {2})}, {untyped("y")}})))
          .text(25, inner)
          .text(25, outer);
  const graph::Model model = read_checked(file);
  EXPECT_THAT(operators(model.graph), ElementsAre("LeakyRelu", "Add", "LeakyRelu", "Add"));
  EXPECT_EQ(node_at(model.graph, 0).attributes.get_float("alpha"), 0.25f);
  EXPECT_EQ(node_at(model.graph, 2).attributes.get_float("alpha"), 0.5f);
  EXPECT_EQ(model.graph.value(model.graph.outputs[0]).name, "y");
  EXPECT_EQ(model.graph.value(node_at(model.graph, 0).outputs[0]).name, "call_y/call_t/t");
}

TEST(Reader, FunctionsAreUpgradedByTheirOwnOpset) {
  const std::string old =
      function("Old", {"a"}, {"r"}, {node("Squeeze", {"a"}, {"r"}, {ints_attribute("axes", {0})})}, 11);
  const std::string file =
      Message(model(graph({{call("Old", {"x"}, {"y"})}, {}, {value_info("x", 1, {1, 2})}, {untyped("y")}})))
          .text(25, old);
  const graph::Model model = read_checked(file);
  EXPECT_EQ(node_at(model.graph, 0).inputs.size(), 2u);
  EXPECT_FALSE(node_at(model.graph, 0).attributes.has("axes"));
}

TEST(Reader, OverloadsAreDifferentFunctions) {
  const std::string first = Message(function("F", {"a"}, {"r"}, {node("Relu", {"a"}, {"r"})})).text(13, "one");
  const std::string second = Message(function("F", {"a"}, {"r"}, {node("Abs", {"a"}, {"r"})})).text(13, "two");
  const std::string file =
      Message(model(graph(
                  {{Message(call("F", {"x"}, {"y"})).text(8, "two")}, {}, {value_info("x", 1, {2})}, {untyped("y")}})))
          .text(25, first)
          .text(25, second);
  EXPECT_THAT(operators(read_checked(file).graph), ElementsAre("Abs"));
}

TEST(Reader, RequiredOutputsThatAreLeftOutAreMade) {
  const graph::Model model = read_checked(onnx::testing::model(
      graph({{node("TopK", {"x", "k"}, {"", "i"})}, {tensor_header("k", 7, {1}).number(7, 1)}, {value_info("x", 1, {2})}, {untyped("i")}})));
  EXPECT_NE(node_at(model.graph, 0).outputs[0], graph::kNoValue);
  const graph::Model optional = read_checked(onnx::testing::model(
      graph({{node("Dropout", {"x"}, {"y", ""})}, {}, {value_info("x", 1, {2})}, {untyped("y")}})));
  EXPECT_EQ(node_at(optional.graph, 0).outputs[1], graph::kNoValue);
}

TEST(Reader, TypesOfEveryKind) {
  const Message element = Message().text(1, Message().number(1, 1));
  const Message sequence = Message().text(4, Message().text(1, element));
  const std::string optional = Message().text(1, "o").text(2, Message().text(9, Message().text(1, sequence)));
  const std::string map = Message().text(1, "m").text(2, Message().text(5, Message().number(1, 8).text(2, element)));
  const graph::Model model =
      read_checked(onnx::testing::model(graph({{}, {}, {optional, map}, {untyped("o"), untyped("m")}})));
  EXPECT_THAT(model.graph.value(model.graph.inputs[0]).type.to_string(), HasSubstr("seq("));
  EXPECT_EQ(model.graph.value(model.graph.inputs[0]).type.kind, graph::ValueType::Kind::kOptional);
  EXPECT_EQ(model.graph.value(model.graph.inputs[1]).type.kind, graph::ValueType::Kind::kMap);
  EXPECT_EQ(model.graph.value(model.graph.inputs[1]).type.element, ElementType::kString);
}

TEST(Reader, DimensionsWithoutARealNameAreDifferentSymbols) {
  const auto dim = [](const char* name) { return std::string(Message().text(2, name)); };
  const std::string shape = Message().text(1, dim("n")).text(1, dim("n")).text(1, dim("?")).text(1, dim("?")).text(1, dim("None")).text(1, dim("None"));
  const std::string input = Message().text(1, "x").text(2, Message().text(1, Message().number(1, 1).text(2, shape)));
  const graph::Model model = read_checked(onnx::testing::model(graph({{node("Relu", {"x"}, {"y"})}, {}, {input}, {untyped("y")}})));
  const auto& dims = model.graph.value(model.graph.inputs[0]).type.dims;
  ASSERT_EQ(dims.size(), 6u);
  EXPECT_EQ(dims[0], dims[1]);
  EXPECT_FALSE(dims[2] == dims[3]);
  EXPECT_FALSE(dims[4] == dims[5]);
}

TEST(Reader, UnknownOperatorsKeepTheTypesThatTheFileGives) {
  const graph::Model model = read_checked(
      onnx::testing::model(graph({{Message(node("Odd", {"x"}, {"t"})).text(7, "custom"), node("Relu", {"t"}, {"y"})},
                                  {},
                                  {value_info("x", 1, {2})},
                                  {untyped("y")},
                                  {},
                                  {value_info("t", 1, {-1, 5})}})));
  EXPECT_EQ(model.graph.value(model.graph.outputs[0]).type.to_string(), "float[d1,5]");
}

TEST(Reader, WeightsAreNotCopiedWhereTheirOwnerKeepsThem) {
  // The raw bytes are the file's last; move the file in memory until they are aligned.
  const std::string weights(4096, 'w');
  const std::string tensor = tensor_header("w", 3, {4096}).text(9, weights);
  const auto file = std::make_shared<const std::string>(
      model(graph({{node("Identity", {"w"}, {"y"})}, {tensor}, {}, {untyped("y")}})));
  ReadOptions options;
  options.owner = file;
  const graph::Model kept = read_checked(*file, options);
  const auto* data = reinterpret_cast<const char*>(kept.constants[0].view().bytes());
  EXPECT_TRUE(data >= file->data() && data < file->data() + file->size());
  const graph::Model copied = read_checked(*file);
  const auto* copy = reinterpret_cast<const char*>(copied.constants[0].view().bytes());
  EXPECT_FALSE(copy >= file->data() && copy < file->data() + file->size());
}

}  // namespace
}  // namespace sardonyx::onnx
