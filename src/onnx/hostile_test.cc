// A table of lies that a file can tell. Each must be an Error whose text says what is wrong and where.

#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sardonyx/error.h"

#include "onnx/proto_builder.h"

namespace sardonyx::onnx {
namespace {

using namespace testing;  // NOLINT: the message builders
using ::testing::HasSubstr;

const std::string kX = value_info("x", 1, {2});
const std::string kRelu = node("Relu", {"x"}, {"y"});

std::string with_nodes(const std::vector<std::string>& nodes) {
  return model(graph({nodes, {}, {kX}, {untyped("y")}}));
}
std::string with_tensor(std::string_view tensor) {
  return model(graph({{node("Identity", {"w"}, {"y"})}, {std::string(tensor)}, {}, {untyped("y")}}));
}
std::string with_attribute(const std::string& attribute) {
  return with_nodes({node("Relu", {"x"}, {"y"}, {attribute})});
}
std::string with_input(const std::string& info) { return model(graph({{kRelu}, {}, {info}, {untyped("y")}})); }

/// A field whose length says more than there is.
std::string too_long(char key) { return {key, '\x7f', 'a'}; }

std::string nested_graphs(int depth) {
  std::string inner = graph({{node("Relu", {"x"}, {"t"})}, {}, {}, {untyped("t")}});
  for (int i = 0; i < depth; ++i) {
    inner = graph({{node("If", {"c"}, {"t"},
                         {graph_attribute("then_branch", inner),
                          graph_attribute("else_branch", graph({{}, {}, {}, {untyped("x")}}))})},
                   {},
                   {},
                   {untyped("t")}});
  }
  const std::string outer = node(
      "If", {"c"}, {"y"},
      {graph_attribute("then_branch", inner), graph_attribute("else_branch", graph({{}, {}, {}, {untyped("x")}}))});
  return model(graph({{outer}, {}, {kX, value_info("c", 9, {})}, {untyped("y")}}));
}

std::string nested_type(int depth) {
  std::string type = Message().text(1, Message().number(1, 1));
  for (int i = 0; i < depth; ++i) type = Message().text(4, Message().text(1, type));
  return with_input(Message().text(1, "x").text(2, type));
}

Message local_function(std::string_view name, const std::vector<std::string>& nodes) {
  return Message().text(1, name).text(4, "a").text(5, "r").texts(7, nodes).text(9, opset("", 21)).text(10, "local");
}
Message call(std::string_view name, const std::string& input, const std::string& output) {
  return Message(node(name, {input}, {output})).text(7, "local");
}
std::string with_functions(const std::vector<std::string>& functions) {
  return Message(model(graph({{call("F", "x", "y")}, {}, {kX}, {untyped("y")}}))).texts(25, functions);
}

/// F0 calls F1 ten times, which calls F2 ten times, and so on: a few hundred bytes that ask for 10^levels nodes.
std::string function_bomb(int levels) {
  std::vector<std::string> functions;
  for (int level = 0; level < levels; ++level) {
    std::vector<std::string> nodes;
    for (int i = 0; i < 10; ++i) {
      const std::string from = i == 0 ? "a" : "t" + std::to_string(i - 1);
      const std::string to = i == 9 ? "r" : "t" + std::to_string(i);
      nodes.push_back(level + 1 == levels ? std::string(node("Relu", {from}, {to}))
                                          : std::string(call("F" + std::to_string(level + 1), from, to)));
    }
    functions.push_back(local_function(level == 0 ? "F" : "F" + std::to_string(level), nodes));
  }
  return with_functions(functions);
}

std::string sparse(const std::vector<std::int64_t>& dims, const std::vector<std::int64_t>& index_dims,
                   const std::vector<std::int64_t>& indices) {
  const Message values = tensor_header("w", 1, {1}).real(4, 1);
  const Message positions = tensor_header("", 7, index_dims).numbers(7, indices);
  return model(graph({{node("Identity", {"w"}, {"y"})},
                      {},
                      {},
                      {untyped("y")},
                      {Message().text(1, values).text(2, positions).numbers(3, dims)}}));
}

struct Lie {
  const char* name;
  std::string file;
  const char* says;   ///< part of the message
  const char* where;  ///< part of the message and its context
};

std::vector<Lie> protobuf_lies() {
  return {
      {"empty", "", "empty", "model in memory"},
      {"text", "this is no model", "", "model in memory"},
      {"graph_longer_than_file", Message(model(graph({{kRelu}, {}, {kX}, {untyped("y")}}))).raw("\x3a\x50"),
       "reaches outside", "ModelProto"},
      {"node_longer_than_graph", model(Message(graph({{kRelu}, {}, {kX}, {untyped("y")}})).raw(too_long('\x0a'))),
       "reaches outside", "GraphProto"},
      {"length_of_64_bits", model(Message().raw("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")), "reaches outside",
       "GraphProto"},
      {"endless_number", model(Message().raw("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")), "does not end",
       "GraphProto"},
      {"field_number_zero", model(Message().raw(std::string_view("\x00\x01", 2))), "impossible number", "GraphProto"},
      {"group", model(Message().raw("\x0b")), "wire type", "GraphProto"},
      {"wrong_wire_type_of_node", model(Message().number(1, 5)), "must hold bytes or a message", "GraphProto"},
      {"wrong_wire_type_of_dims", with_tensor(Message(tensor_header("w", 1, {})).real(1, 2)), "must hold integers",
       "TensorProto"},
      {"wrong_wire_type_of_float", with_attribute(Message().text(1, "alpha").number(2, 3).number(20, 1)),
       "must hold a float", "Relu"},
      {"two_graphs", Message(model(graph({{kRelu}, {}, {kX}, {untyped("y")}}))).text(7, graph({})), "given twice",
       "model"},
  };
}

std::vector<Lie> header_lies() {
  const std::string good = graph({{kRelu}, {}, {kX}, {untyped("y")}});
  return {
      {"no_graph", Message().number(1, 8).text(8, opset("", 13)), "holds no graph", "model"},
      {"no_ir_version", Message().text(8, opset("", 13)).text(7, good), "IR version 0", "model"},
      {"newer_ir_version", model(good, 13, 99), "reads 1 to 13", "model"},
      {"no_opset", Message().number(1, 8).text(7, good), "imports no opset", "model"},
      {"newer_opset", model(good, 99), "the newest that this build knows is 27", "model"},
      {"opset_zero", model(good, 0), "version 0", "model"},
      {"opset_of_two_versions", Message(model(good)).text(8, opset("ai.onnx", 9)), "in versions", "model"},
      {"only_another_domain", Message().number(1, 8).text(8, opset("custom", 1)).text(7, good), "imports no version",
       "Relu"},
  };
}

std::vector<Lie> graph_lies() {
  return {
      {"cycle", with_nodes({node("Add", {"x", "b"}, {"a"}), node("Relu", {"a"}, {"b"}), kRelu}), "cycle", "graph 'g'"},
      {"reads_itself", with_nodes({node("Add", {"x", "y"}, {"y"})}), "cycle", "Add"},
      {"missing_value", with_nodes({node("Relu", {"nothing"}, {"y"})}), "reads 'nothing'", "Relu"},
      {"missing_output", with_nodes({node("Relu", {"x"}, {"z"})}), "output 'y' is made by no node", "graph 'g'"},
      {"made_twice", with_nodes({kRelu, node("Abs", {"x"}, {"y"})}), "made twice", "Abs"},
      {"made_twice_by_one_node", with_nodes({node("Split", {"x"}, {"y", "y"})}), "made twice", "Split"},
      {"makes_an_input", with_nodes({node("Relu", {"x"}, {"x"}), kRelu}), "", "graph 'g'"},
      {"makes_an_initializer",
       model(graph({{node("Relu", {"x"}, {"w"}), kRelu}, {float_tensor("w", {}, {1})}, {kX}, {untyped("y")}})),
       "defined twice", "Relu"},
      {"input_twice", model(graph({{kRelu}, {}, {kX, kX}, {untyped("y")}})), "defined twice", "graph 'g'"},
      {"initializer_twice",
       model(graph({{kRelu}, {float_tensor("w", {}, {1}), float_tensor("w", {}, {1})}, {kX}, {untyped("y")}})),
       "two initializers named 'w'", "graph 'g'"},
      {"input_without_name", model(graph({{kRelu}, {}, {kX, value_info("", 1, {})}, {untyped("y")}})), "no name",
       "graph 'g'"},
      {"input_without_type", with_input(untyped("x")), "has no type", "graph 'g'"},
      {"node_without_output", with_nodes({kRelu, node("Abs", {"x"}, {})}), "no output", "Abs"},
      {"node_without_named_output", with_nodes({kRelu, node("Abs", {"x"}, {""})}), "no output", "Abs"},
      {"node_without_operator", with_nodes({node("", {"x"}, {"y"})}), "no operator", "node"},
      {"nesting", nested_graphs(70), "nested more than 64 deep", "graph 'g'"},
      {"deep_nesting", nested_graphs(1000), "nested more than 64 deep", "graph 'g'"},
      {"body_reads_nothing",
       model(graph({{node("If", {"c"}, {"y"},
                          {graph_attribute("then_branch",
                                           graph({{node("Relu", {"q"}, {"t"})}, {}, {}, {untyped("t")}}, "inner"))})},
                    {},
                    {value_info("c", 9, {})},
                    {untyped("y")}})),
       "reads 'q'", "graph 'inner'"},
  };
}

std::vector<Lie> attribute_lies() {
  return {
      {"attribute_twice", with_nodes({node("Relu", {"x"}, {"y"}, {int_attribute("a", 1), int_attribute("a", 1)})}),
       "given twice", "Relu"},
      {"attribute_without_name", with_attribute(int_attribute("", 1)), "no name", "Relu"},
      {"attribute_of_unknown_type", with_attribute(Message().text(1, "a").number(20, 77)), "unknown type 77", "Relu"},
      {"attribute_of_other_type", with_attribute(Message().text(1, "a").number(3, 1).number(20, 1)),
       "holds a value of type 2", "Relu"},
      {"attribute_without_type", with_attribute(Message().text(1, "a")), "does not say its type", "Relu"},
      {"tensor_attribute_without_tensor", with_attribute(Message().text(1, "a").number(20, 4)), "missing",
       "attribute 'a'"},
      {"graph_attribute_without_graph", with_attribute(Message().text(1, "a").number(20, 5)), "missing", "Relu"},
      {"reference_outside_function", with_attribute(reference_attribute("a", "b", 2)), "only functions", "Relu"},
      {"constant_without_value", with_nodes({node("Constant", {}, {"y"})}), "one attribute", "Constant"},
      {"constant_of_wrong_type", with_nodes({node("Constant", {}, {"y"}, {int_attribute("value", 1)})}), "wrong type",
       "Constant"},
      {"constant_with_input", with_nodes({node("Constant", {"x"}, {"y"}, {int_attribute("value_int", 1)})}), "no input",
       "Constant"},
      {"old_attribute_of_wrong_type",
       model(graph({{node("Squeeze", {"x"}, {"y"}, {int_attribute("axes", 0)})}, {}, {kX}, {untyped("y")}}), 11),
       "must be ints", "Squeeze"},
  };
}

std::vector<Lie> tensor_lies() {
  const std::int64_t huge = std::int64_t{1} << 62;
  return {
      {"raw_too_short", with_tensor(float_tensor("w", {3}, {1, 2})), "takes 12 bytes, but has 8", "tensor 'w'"},
      {"raw_too_long", with_tensor(float_tensor("w", {1}, {1, 2})), "takes 4 bytes, but has 8", "tensor 'w'"},
      {"negative_dimension", with_tensor(float_tensor("w", {-1}, {1})), "negative", "tensor 'w'"},
      {"huge_dimension", with_tensor(float_tensor("w", {huge}, {1})), "", "tensor 'w'"},
      {"overflow", with_tensor(float_tensor("w", {huge, huge}, {1})), "overflows", "tensor 'w'"},
      {"huge_without_data", with_tensor(tensor_header("w", 1, {1 << 30, 4})), "has at most 0", "tensor 'w'"},
      {"unknown_type", with_tensor(tensor_header("w", 99, {})), "99 is no element type", "tensor 'w'"},
      {"no_type", with_tensor(tensor_header("w", 0, {})), "0 is no element type", "tensor 'w'"},
      {"too_few_numbers", with_tensor(tensor_header("w", 7, {3}).numbers(7, {1, 2})), "needs 3", "tensor 'w'"},
      {"too_many_numbers", with_tensor(tensor_header("w", 7, {1}).numbers(7, {1, 2})), "has 2", "tensor 'w'"},
      {"wrong_field", with_tensor(tensor_header("w", 1, {1}).number(7, 1)), "must stand in field 4", "tensor 'w'"},
      {"two_fields", with_tensor(tensor_header("w", 1, {1}).number(7, 1).real(4, 1)), "fields", "graph 'g'"},
      {"raw_and_typed", with_tensor(tensor_header("w", 1, {1}).text(9, "1234").real(4, 1)), "given twice",
       "tensor 'w'"},
      {"number_does_not_fit", with_tensor(tensor_header("w", 3, {1}).number(5, 1000)), "does not fit into 8 bits",
       "tensor 'w'"},
      {"packed_of_odd_length", with_tensor(tensor_header("w", 1, {1}).text(4, "12345")), "multiple of its element size",
       "tensor 'w'"},
      {"raw_strings", with_tensor(tensor_header("w", 8, {1}).text(9, "abc")), "string_data", "tensor 'w'"},
      {"too_few_strings", with_tensor(tensor_header("w", 8, {2}).text(6, "abc")), "needs 2", "tensor 'w'"},
      {"segments", with_tensor(tensor_header("w", 1, {1}).text(3, Message().number(1, 0)).real(4, 1)), "segments",
       "tensor 'w'"},
      {"location_unknown", with_tensor(tensor_header("w", 1, {1}).number(14, 7)), "data_location", "tensor 'w'"},
      {"external_in_memory",
       with_tensor(tensor_header("w", 1, {1}).number(14, 1).text(13, Message().text(1, "location").text(2, "w.bin"))),
       "read from memory", "tensor 'w'"},
      {"sparse_bomb", sparse({1 << 30, 64}, {1}, {0}), "once its tensors are dense", "graph 'g'"},
      {"sparse_index_outside", sparse({2, 2}, {1}, {4}), "ascend", "graph 'g'"},
      {"sparse_index_outside_axis", sparse({2, 2}, {1, 2}, {0, 5}), "outside of 2", "graph 'g'"},
      {"sparse_index_negative", sparse({2, 2}, {1}, {-1}), "ascend", "graph 'g'"},
      {"sparse_indices_of_wrong_shape", sparse({2, 2}, {1, 3}, {0, 0, 0}), "needs values", "graph 'g'"},
      {"sparse_negative_dimension", sparse({-2, 2}, {1}, {0}), "negative", "graph 'g'"},
  };
}

std::vector<Lie> type_and_function_lies() {
  return {
      {"unknown_element_type", with_input(value_info("x", 77, {})), "77 is no element type", "the type of 'x'"},
      {"negative_type_dimension",
       with_input(Message().text(1, "x").text(
           2, Message().text(1, Message().number(1, 1).text(2, Message().text(1, Message().number(1, -7)))))),
       "negative", "the type of 'x'"},
      {"nested_type", nested_type(100), "nested more than 64", "the type of 'x'"},
      {"very_nested_type", nested_type(5000), "nested more than 64", "the type of 'x'"},
      {"default_of_other_type", model(graph({{kRelu}, {float_tensor("x", {3}, {1, 2, 3})}, {kX}, {untyped("y")}})),
       "declared as float[2]", "graph 'g'"},
      {"function_calls_itself", with_functions({local_function("F", {call("F", "a", "r")})}), "calls itself",
       "local.F"},
      {"functions_call_each_other",
       with_functions({local_function("F", {call("G", "a", "r")}), local_function("G", {call("F", "a", "r")})}),
       "calls itself", "local.G"},
      {"function_twice",
       with_functions(
           {local_function("F", {node("Relu", {"a"}, {"r"})}), local_function("F", {node("Relu", {"a"}, {"r"})})}),
       "defined twice", "local.F"},
      {"function_without_output", with_functions({local_function("F", {})}), "made by no node", "local.F"},
      {"function_reads_outside", with_functions({local_function("F", {node("Relu", {"x"}, {"r"})})}), "reads 'x'",
       "local.F"},
      {"function_bomb", function_bomb(12), "expand into more than", "local.F"},
  };
}

class HostileFile : public ::testing::TestWithParam<Lie> {};

TEST_P(HostileFile, IsAnErrorThatNamesThePlace) {
  const auto start = std::chrono::steady_clock::now();
  try {
    read(GetParam().file);
    FAIL() << "the model loads";
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr(GetParam().says)) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(GetParam().where));
    EXPECT_NE(error.code(), ErrorCode::kInternal) << error.what();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

/// Every prefix of a model is an error or a model, never a crash.
TEST(Hostile, EveryPrefixOfAFile) {
  const std::string file = nested_graphs(3);
  int errors = 0;
  for (std::size_t length = 0; length < file.size(); ++length) {
    try {
      read(std::string_view(file).substr(0, length));
    } catch (const Error& error) {
      EXPECT_NE(error.code(), ErrorCode::kInternal) << error.what();
      ++errors;
    }
  }
  EXPECT_EQ(errors, static_cast<int>(file.size()));
}

std::string name_of(const ::testing::TestParamInfo<Lie>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Protobuf, HostileFile, ::testing::ValuesIn(protobuf_lies()), name_of);
INSTANTIATE_TEST_SUITE_P(Header, HostileFile, ::testing::ValuesIn(header_lies()), name_of);
INSTANTIATE_TEST_SUITE_P(Graph, HostileFile, ::testing::ValuesIn(graph_lies()), name_of);
INSTANTIATE_TEST_SUITE_P(Attribute, HostileFile, ::testing::ValuesIn(attribute_lies()), name_of);
INSTANTIATE_TEST_SUITE_P(Tensor, HostileFile, ::testing::ValuesIn(tensor_lies()), name_of);
INSTANTIATE_TEST_SUITE_P(TypeAndFunction, HostileFile, ::testing::ValuesIn(type_and_function_lies()), name_of);

}  // namespace
}  // namespace sardonyx::onnx
