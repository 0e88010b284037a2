// The form of upgraded nodes. That they compute what the old ones meant is shown by tests/onnx/upgrade_test.py.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sardonyx/error.h"

#include "onnx/proto_builder.h"

namespace sardonyx::onnx {
namespace {

using namespace testing;  // NOLINT: the message builders
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kUnranked = Message().text(1, "x").text(2, Message().text(1, Message().number(1, 1)));

graph::Model upgrade(const std::string& nodes, std::int64_t version,
                     const std::string& input = value_info("x", 1, {2, 3, 4})) {
  graph::Model model = read(onnx::testing::model(graph({{nodes}, {}, {input}, {untyped("y")}}), version, 8));
  graph::verify(model);
  return model;
}

std::vector<std::string> operators(const graph::Model& model) {
  std::vector<std::string> names;
  for (graph::NodeId id : model.graph.order()) names.push_back(model.graph.node(id).op_type);
  return names;
}

const graph::Node& last_node(const graph::Model& model) { return model.graph.node(model.graph.order().back()); }

std::vector<std::int64_t> constant_ints(const graph::Model& model, std::size_t input) {
  const Tensor* tensor = model.constant_of(model.graph, last_node(model).input(input));
  if (!tensor) return {};
  const auto values = tensor->span<std::int64_t>();
  return {values.begin(), values.end()};
}

TEST(Upgrade, NewestNodesStayAsTheyAre) {
  const graph::Model model = upgrade(node("Softmax", {"x"}, {"y"}, {int_attribute("axis", 1)}), 13);
  EXPECT_THAT(operators(model), ElementsAre("Softmax"));
  EXPECT_EQ(last_node(model).attributes.get_int("axis"), 1);
}

TEST(Upgrade, SoftmaxFlattensOnlyWhereItMust) {
  EXPECT_THAT(operators(upgrade(node("Softmax", {"x"}, {"y"}, {int_attribute("axis", 2)}), 11)),
              ElementsAre("Softmax"));
  EXPECT_THAT(operators(upgrade(node("Softmax", {"x"}, {"y"}, {int_attribute("axis", 1)}), 11)),
              ElementsAre("Shape", "Flatten", "Softmax", "Reshape"));
  EXPECT_THAT(operators(upgrade(node("Softmax", {"x"}, {"y"}, {int_attribute("axis", 2)}), 11, kUnranked)),
              ElementsAre("Shape", "Flatten", "Softmax", "Reshape"));
}

TEST(Upgrade, TypesOfWhatIsMadeAreKnownToTheNext) {
  // The rank that Softmax needs comes from the node before it.
  const std::string both = onnx::testing::model(graph({{node("Unsqueeze", {"x"}, {"u"}, {ints_attribute("axes", {0})}),
                                                        node("Softmax", {"u"}, {"y"}, {int_attribute("axis", 3)})},
                                                       {},
                                                       {value_info("x", 1, {2, 3, -1})},
                                                       {untyped("y")}}),
                                                11, 8);
  EXPECT_THAT(operators(read(both)), ElementsAre("Unsqueeze", "Softmax"));
}

TEST(Upgrade, AxesBecomeAnInput) {
  const graph::Model model =
      upgrade(node("ReduceMean", {"x"}, {"y"}, {ints_attribute("axes", {0, -1}), int_attribute("keepdims", 0)}), 13);
  EXPECT_THAT(constant_ints(model, 1), ElementsAre(0, -1));
  EXPECT_FALSE(last_node(model).attributes.has("axes"));
  EXPECT_EQ(upgrade(node("ReduceMean", {"x"}, {"y"}), 13).graph.node(0).inputs.size(), 1u);
}

TEST(Upgrade, GlobalLpPoolHasAWholeP) {
  EXPECT_EQ(
      last_node(upgrade(node("GlobalLpPool", {"x"}, {"y"}, {float_attribute("p", 3)}), 1)).attributes.get_int("p"), 3);
  EXPECT_THROW(upgrade(node("GlobalLpPool", {"x"}, {"y"}, {float_attribute("p", 2.5f)}), 1), Error);
}

TEST(Upgrade, ConsumedInputsAreDropped) {
  EXPECT_FALSE(last_node(upgrade(node("Relu", {"x"}, {"y"}, {ints_attribute("consumed_inputs", {0})}), 1))
                   .attributes.has("consumed_inputs"));
}

TEST(Upgrade, RecurrentOutputSequenceIsDropped) {
  // Input, weights and recurrence have the right ranks for inference to accept them.
  const std::string lstm = onnx::testing::model(
      graph({{node("LSTM", {"x", "w", "r"}, {"y"},
                   {int_attribute("hidden_size", 3), int_attribute("output_sequence", 1)})},
             {},
             {value_info("x", 1, {5, 1, 2}), value_info("w", 1, {1, 12, 2}), value_info("r", 1, {1, 12, 3})},
             {untyped("y")}}),
      6, 8);
  EXPECT_FALSE(last_node(read(lstm)).attributes.has("output_sequence"));
}

TEST(Upgrade, RoiAlignKeepsItsCoordinates) {
  const std::string file = onnx::testing::model(
      graph({{node("RoiAlign", {"x", "rois", "batch"}, {"y"})},
             {},
             {value_info("x", 1, {1, 2, 8, 8}), value_info("rois", 1, {3, 4}), value_info("batch", 7, {3})},
             {untyped("y")}}),
      10, 8);
  EXPECT_EQ(last_node(read(file)).attributes.get_string("coordinate_transformation_mode"), "output_half_pixel");
}

TEST(Upgrade, UnknownDomainsStayAsTheyAre) {
  const std::string file =
      Message(onnx::testing::model(
                  graph({{Message(node("Softmax", {"x"}, {"y"}, {int_attribute("axis", 0)})).text(7, "custom")},
                         {},
                         {value_info("x", 1, {2, 3})},
                         {value_info("y", 1, {2, 3})}}),
                  11, 8))
          .text(8, opset("custom", 999));
  const graph::Model model = read(file);
  EXPECT_THAT(operators(model), ElementsAre("Softmax"));
  EXPECT_EQ(model.opsets.at("custom"), 999);
}

TEST(Upgrade, BodiesAreUpgraded) {
  const std::string branch =
      graph({{node("Squeeze", {"x"}, {"s"}, {ints_attribute("axes", {0})})}, {}, {}, {untyped("s")}});
  const std::string file = onnx::testing::model(
      graph(
          {{node("If", {"c"}, {"y"}, {graph_attribute("then_branch", branch), graph_attribute("else_branch", branch)})},
           {},
           {value_info("x", 1, {1, 3}), value_info("c", 9, {})},
           {untyped("y")}}),
      11, 8);
  const graph::Model model = read(file);
  const graph::Graph& body = *last_node(model).attributes.graph("then_branch");
  EXPECT_EQ(body.node(body.order()[0]).inputs.size(), 2u);
}

struct BadNode {
  const char* name;
  std::string node;
  std::int64_t version;
  const char* says;
};

class UpgradeError : public ::testing::TestWithParam<BadNode> {};

TEST_P(UpgradeError, SaysWhatIsWrong) {
  try {
    upgrade(GetParam().node, GetParam().version);
    FAIL() << "the node is accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr(GetParam().says));
    EXPECT_NE(error.code(), ErrorCode::kInternal);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Nodes, UpgradeError,
    ::testing::Values(
        BadNode{"cast_to_nothing", node("Cast", {"x"}, {"y"}, {string_attribute("to", "FLOATY")}), 1,
                "'floaty' is no element type"},
        BadNode{"slice_without_starts", node("Slice", {"x"}, {"y"}), 1, "'starts' is required"},
        BadNode{"pad_without_pads", node("Pad", {"x"}, {"y"}), 2, "'pads' is required"},
        BadNode{"top_k_without_k", node("TopK", {"x"}, {"y"}), 1, "'k' is required"},
        BadNode{"upsample_without_scales", node("Upsample", {"x"}, {"y"}), 7, "'scales' is required"},
        BadNode{"broadcast_too_far",
                node("Add", {"x", "x"}, {"y"}, {int_attribute("broadcast", 1), int_attribute("axis", 1)}), 6,
                "cannot be broadcast"},
        BadNode{"per_activation_training",
                node("BatchNormalization", {"x", "x", "x", "x", "x"}, {"y"}, {int_attribute("spatial", 0)}), 6,
                "spatial = 0"},
        BadNode{"groups_do_not_divide",
                node("GroupNormalization", {"x", "x", "x"}, {"y"}, {int_attribute("num_groups", 2)}), 18,
                "into 2 groups"},
        BadNode{"scan_without_body", node("Scan", {"", "x"}, {"y"}, {int_attribute("num_scan_inputs", 1)}), 8,
                "'body' is required"},
        BadNode{"tf_half_pixel_linear",
                node("Resize", {"x", "", "x"}, {"y"},
                     {string_attribute("mode", "linear"),
                      string_attribute("coordinate_transformation_mode", "tf_half_pixel_for_nn")}),
                11, "tf_half_pixel_for_nn"}),
    [](const ::testing::TestParamInfo<BadNode>& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace sardonyx::onnx
