#include "onnx/writer.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <unistd.h>

#include "sardonyx/error.h"

#include "onnx/proto_builder.h"

namespace sardonyx::onnx {
namespace {

using namespace testing;  // NOLINT: the message builders

graph::Model again(const graph::Model& model) {
  graph::Model copy = read(write_model_to_string(model));
  graph::verify(copy);
  return copy;
}

/// The model, written and read, is the same; returns it.
graph::Model expect_round_trip(const std::string& file) {
  graph::Model first = read(file);
  graph::Model second = again(first);
  EXPECT_EQ(to_text(first), to_text(second));
  return second;
}

TEST(Writer, KeepsGraphHeaderAndTypes) {
  const std::string file = Message(model(graph({{node("Add", {"x", "w"}, {"t"}), node("Relu", {"t"}, {"y"})},
                                                {float_tensor("w", {3}, {1, 2, 3})},
                                                {value_info("x", 1, {-1, 3})},
                                                {untyped("y")}})))
                               .text(2, "maker")
                               .text(6, "doc")
                               .text(14, Message().text(1, "k").text(2, "v"));
  const graph::Model model = expect_round_trip(file);
  EXPECT_EQ(model.producer_name, "maker");
  EXPECT_EQ(model.doc_string, "doc");
  EXPECT_EQ(model.metadata.at("k"), "v");
  EXPECT_EQ(model.constants[0].span<float>()[2], 3);
}

TEST(Writer, SubgraphsReadOuterValuesAgain) {
  const std::string inner = graph({{node("Add", {"x", "w"}, {"i"})}, {}, {}, {untyped("i")}}, "inner");
  const std::string middle =
      graph({{node("If", {"c"}, {"m"}, {graph_attribute("then_branch", inner), graph_attribute("else_branch", inner)})},
             {},
             {},
             {untyped("m")}},
            "middle");
  const std::string other =
      graph({{node("Mul", {"x", "v"}, {"o"})}, {float_tensor("v", {1}, {3})}, {}, {untyped("o")}}, "other");
  expect_round_trip(model(graph(
      {{node("If", {"c"}, {"y"}, {graph_attribute("then_branch", middle), graph_attribute("else_branch", other)})},
       {float_tensor("w", {1}, {2})},
       {value_info("x", 1, {2}), value_info("c", 9, {})},
       {untyped("y")}})));
}

TEST(Writer, AttributesOfEveryKind) {
  const Message type = Message().text(4, Message().text(1, Message().text(1, Message().number(1, 7))));
  const std::string odd =
      Message(node("Odd", {"x"}, {"y"},
                   {int_attribute("i", -1), float_attribute("f", 0.5f),
                    string_attribute("s", std::string_view("a\0b", 3)), ints_attribute("is", {1, -2}),
                    ints_attribute("none", {}), tensor_attribute("t", float_tensor("", {1}, {4})),
                    Message().text(1, "tp").text(14, type).number(20, 13),
                    Message().text(1, "fs").real(7, 1).real(7, 2).number(20, 6),
                    Message().text(1, "ss").text(9, "x").text(9, "").number(20, 8),
                    Message().text(1, "ts").text(10, float_tensor("", {}, {1})).number(20, 9)}))
          .text(7, "custom");
  const graph::Model model =
      expect_round_trip(onnx::testing::model(graph({{odd}, {}, {value_info("x", 1, {2})}, {value_info("y", 1, {2})}})));
  const graph::Attributes& attributes = model.graph.node(model.graph.order()[0]).attributes;
  EXPECT_EQ(attributes.get_int("i"), -1);
  EXPECT_EQ(attributes.get_float("f"), 0.5f);
  EXPECT_EQ(attributes.get_string("s"), std::string("a\0b", 3));
  EXPECT_EQ(*attributes.ints("is"), (std::vector<std::int64_t>{1, -2}));
  EXPECT_TRUE(attributes.ints("none")->empty());
  EXPECT_EQ(attributes.tensor("t")->data<float>()[0], 4);
  EXPECT_EQ(*attributes.floats("fs"), (std::vector<float>{1, 2}));
  EXPECT_EQ(*attributes.strings("ss"), (std::vector<std::string>{"x", ""}));
  EXPECT_EQ(std::get<graph::ValueType>(*attributes.find("tp")).kind, graph::ValueType::Kind::kSequence);
  EXPECT_EQ(std::get<std::vector<Tensor>>(*attributes.find("ts")).size(), 1u);
  EXPECT_EQ(attributes.size(), 10u);
}

TEST(Writer, OutputsThatAreInputsConstantsOrReturnedTwice) {
  graph::Model model =
      read(onnx::testing::model(graph({{node("Relu", {"x"}, {"y"})}, {}, {value_info("x", 1, {2})}, {untyped("y")}})));
  model.graph.add_output(model.graph.inputs[0], "same_as_x");
  model.graph.add_output(model.graph.outputs[0], "y_again");
  model.graph.add_output(model.add_constant_value(model.graph, "c", Tensor::scalar(1.f)), "constant");
  const graph::Model copy = again(model);
  EXPECT_EQ(copy.graph.output_names, model.graph.output_names);
  EXPECT_EQ(copy.graph.order().size(), 3u);  // Relu and two Identities
  EXPECT_TRUE(copy.graph.value(copy.graph.outputs[3]).is_constant());
  model.graph.add_output(model.graph.inputs[0], "y");
  EXPECT_THROW(write_model_to_string(model), Error);
}

TEST(Writer, NamesThatClashAreMadeUnique) {
  graph::Model model =
      read(onnx::testing::model(graph({{node("Relu", {"x"}, {"y"})}, {}, {value_info("x", 1, {2})}, {untyped("y")}})));
  graph::Graph& g = model.graph;
  for (int i = 0; i < 3; ++i) {
    graph::Node extra;
    extra.op_type = "Abs";
    extra.inputs = {g.outputs[0]};
    extra.outputs = {g.add_value(i == 2 ? "" : "y", g.value(g.outputs[0]).type)};
    g.outputs[0] = g.add_node(std::move(extra)).outputs[0];
  }
  const graph::Model copy = again(model);
  EXPECT_EQ(copy.graph.order().size(), 4u);
  EXPECT_EQ(copy.graph.output_names[0], "y");
}

TEST(Writer, DefaultsOfInputs) {
  const graph::Model model =
      expect_round_trip(onnx::testing::model(graph({{node("Add", {"x", "w"}, {"y"})},
                                                    {float_tensor("w", {1}, {2})},
                                                    {value_info("x", 1, {2}), value_info("w", 1, {1})},
                                                    {untyped("y")}})));
  EXPECT_NE(model.graph.input_defaults[1], graph::kNoConst);
}

TEST(Writer, LargeWeightsGoIntoAFileBeside) {
  const auto folder = std::filesystem::path(::testing::TempDir()) / ("writer." + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::vector<float> values(5000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const graph::Model model =
      read(onnx::testing::model(graph({{node("Add", {"x", "w"}, {"t"}), node("Add", {"t", "v"}, {"y"})},
                                       {float_tensor("w", {5000}, values), float_tensor("v", {5000}, values)},
                                       {value_info("x", 1, {5000})},
                                       {untyped("y")}})));
  WriteOptions options;
  options.most_bytes_inline = 30'000;
  write_model(model, folder / "m.onnx", options);
  EXPECT_LT(std::filesystem::file_size(folder / "m.onnx"), 2000u);
  EXPECT_TRUE(std::filesystem::exists(folder / "m.onnx.data"));
  EXPECT_THROW(write_model_to_string(model, options), Error);
  const graph::Model copy = read_model(folder / "m.onnx");
  EXPECT_EQ(to_text(copy), to_text(model));
  EXPECT_EQ(copy.constants[1].data<float>()[4999], 4999);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 2);  // nothing temporary is left
  std::filesystem::remove_all(folder);
  EXPECT_THROW(write_model(model, folder / "m.onnx"), Error);
}

}  // namespace
}  // namespace sardonyx::onnx
