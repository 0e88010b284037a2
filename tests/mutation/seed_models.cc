#include "seed_models.h"

#include "onnx/proto_builder.h"

namespace sardonyx::mutation {
namespace {

using namespace onnx::testing;  // NOLINT: the message builders
using onnx::testing::graph;     // not the namespace

std::vector<float> ramp(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = 0.01f * static_cast<float>(i % 37) - 0.1f;
  return values;
}

Message int64s(std::string_view name, const std::vector<std::int64_t>& values) {
  return tensor_header(name, 7, {static_cast<std::int64_t>(values.size())}).numbers(7, values);
}

/// Two layers and a softmax, with raw and typed weights.
std::string classifier() {
  Message bias = tensor_header("b1", 1, {8});
  for (float value : ramp(8)) bias.real(4, value);
  return model(
      graph({{node("MatMul", {"x", "w1"}, {"h"}), node("Add", {"h", "b1"}, {"h1"}), node("Relu", {"h1"}, {"h2"}),
              node("Gemm", {"h2", "w2", "b2"}, {"z"}, {int_attribute("transB", 1)}),
              node("Softmax", {"z"}, {"y"}, {int_attribute("axis", -1)})},
             {float_tensor("w1", {4, 8}, ramp(32)), bias, float_tensor("w2", {3, 8}, ramp(24)),
              float_tensor("b2", {3}, ramp(3))},
             {value_info("x", 1, {-1, 4})},
             {value_info("y", 1, {-1, 3})}}));
}

/// A loop that doubles until a limit, with a condition inside, both reading outer values.
std::string control_flow() {
  const std::string grow = graph({{node("Mul", {"v", "two"}, {"grown"})}, {}, {}, {untyped("grown")}}, "grow");
  const std::string keep = graph({{node("Add", {"v", "x"}, {"kept"})}, {}, {}, {untyped("kept")}}, "keep");
  const std::string body = graph(
      {{node("ReduceMax", {"v"}, {"top"}, {int_attribute("keepdims", 0)}), node("Less", {"top", "limit"}, {"more"}),
        node("If", {"more"}, {"v_out"}, {graph_attribute("then_branch", grow), graph_attribute("else_branch", keep)}),
        node("Identity", {"more"}, {"more_out"}), node("Identity", {"v_out"}, {"row"})},
       {},
       {value_info("i", 7, {}), value_info("c", 9, {}), value_info("v", 1, {-1})},
       {untyped("more_out"), untyped("v_out"), untyped("row")}},
      "body");
  return model(graph(
      {{node("Loop", {"n", "", "x"}, {"last", "rows"}, {graph_attribute("body", body)}), node("Relu", {"last"}, {"y"})},
       {int64s("n_vector", {5}), tensor_header("n", 7, {}).number(7, 5), float_tensor("two", {}, {2}),
        float_tensor("limit", {}, {9})},
       {value_info("x", 1, {-1})},
       {untyped("y"), untyped("rows")}}));
}

/// Functions that call one another, of an old opset with the operators whose meaning changed.
std::string old_functions() {
  const std::string inner =
      Message()
          .text(1, "Block")
          .texts(4, {"a", "s"})
          .text(5, "r")
          .text(6, "slope")
          .text(10, "local")
          .text(9, opset("", 11))
          .texts(7, {node("Squeeze", {"a"}, {"q"}, {ints_attribute("axes", {0})}),
                     node("LeakyRelu", {"q"}, {"l"}, {reference_attribute("alpha", "slope", 1)}),
                     node("Softmax", {"l"}, {"m"}), node("Unsqueeze", {"m"}, {"u"}, {ints_attribute("axes", {0})}),
                     node("Mul", {"u", "s"}, {"r"})});
  const std::string outer =
      Message()
          .text(1, "Net")
          .text(4, "a")
          .text(5, "r")
          .text(10, "local")
          .text(9, opset("", 11))
          .text(9, opset("local", 1))
          .texts(7, {node("Constant", {}, {"s"}, {tensor_attribute("value", float_tensor("", {1}, {3}))}),
                     Message(node("Block", {"a", "s"}, {"t"}, {float_attribute("slope", 0.1f)})).text(7, "local"),
                     Message(node("Block", {"t", "s"}, {"r"}, {float_attribute("slope", 0.2f)})).text(7, "local")});
  const std::string batch_norm = node("BatchNormalization", {"f", "g", "g", "g", "g"}, {"n"});
  return Message(
             model(
                 graph({{Message(node("Net", {"x"}, {"f0"})).text(7, "local"),
                         node("Clip", {"f0"}, {"f"}, {float_attribute("min", -1), float_attribute("max", 1)}),
                         batch_norm, node("Pad", {"n"}, {"p"}, {ints_attribute("pads", {0, 0, 1, 0, 0, 1})}),
                         node("Split", {"p"}, {"y", "z"}, {int_attribute("axis", 1), ints_attribute("split", {1, 2})})},
                        {float_tensor("g", {3}, {1, 2, 3})},
                        {value_info("x", 1, {1, 3, -1})},
                        {untyped("y"), untyped("z")}}),
                 10, 8))
      .text(25, inner)
      .text(25, outer)
      .text(8, opset("local", 1));
}

/// Shapes computed from shapes, sparse and typed constants, gathers, a sequence.
std::string shape_arithmetic() {
  const Message values = tensor_header("mask", 1, {2}).real(4, 1).real(4, -1);
  const std::string sparse = Message().text(1, values).text(2, int64s("", {1, 4})).numbers(3, {2, 3});
  return model(graph(
      {{node("Shape", {"x"}, {"s"}), node("Gather", {"s", "zero"}, {"b"}, {int_attribute("axis", 0)}),
        node("Concat", {"b", "rest"}, {"target"}, {int_attribute("axis", 0)}), node("Reshape", {"x", "target"}, {"r"}),
        node("Add", {"r", "mask"}, {"m"}), node("Transpose", {"m"}, {"t"}, {ints_attribute("perm", {0, 2, 1})}),
        node("Slice", {"t", "zero", "two", "one"}, {"c"}), node("SequenceConstruct", {"c", "c"}, {"q"}),
        node("ConcatFromSequence", {"q"}, {"y"}, {int_attribute("axis", 1)}), node("NonZero", {"y"}, {"places"}),
        node("Expand", {"one", "target"}, {"wide"})},
       {int64s("zero", {0}), int64s("one", {1}), int64s("two", {2}), int64s("rest", {2, 3})},
       {value_info("x", 1, {-1, 6})},
       {untyped("y"), untyped("places"), untyped("wide")},
       {sparse}}));
}

/// Quantised weights, a convolution, strings, half and 4-bit tensors.
std::string mixed_types() {
  const std::string weights = tensor_header("wq", 3, {2, 1, 3, 3}).numbers(5, std::vector<std::int64_t>(18, 5));
  const std::string nibbles = tensor_header("nibbles", 22, {5}).numbers(5, {0x21, 0x43, 0x05});
  const std::string words = tensor_header("words", 8, {2}).text(6, "left").text(6, "right");
  return model(graph(
      {{node("DequantizeLinear", {"wq", "scale", "zp"}, {"w"}, {int_attribute("axis", 0)}),
        node("Conv", {"x", "w"}, {"c"}, {ints_attribute("kernel_shape", {3, 3}), ints_attribute("pads", {1, 1, 1, 1})}),
        node("MaxPool", {"c"}, {"p"}, {ints_attribute("kernel_shape", {2, 2}), ints_attribute("strides", {2, 2})}),
        node("Flatten", {"p"}, {"f"}), node("Cast", {"half"}, {"h"}, {int_attribute("to", 1)}),
        node("Mul", {"f", "h"}, {"y"}), node("Cast", {"nibbles"}, {"n"}, {int_attribute("to", 1)}),
        node("StringConcat", {"words", "words"}, {"s"}), node("TopK", {"y", "k"}, {"top", "index"})},
       {weights, nibbles, words, float_tensor("scale", {2}, {0.1f, 0.2f}),
        tensor_header("zp", 3, {2}).numbers(5, {0, 1}), tensor_header("half", 10, {1}).number(5, 0x3c00),
        int64s("k", {1})},
       {value_info("x", 1, {1, 1, -1, 4})},
       {untyped("y"), untyped("n"), untyped("s"), untyped("top"), untyped("index")}}));
}

}  // namespace

std::vector<SeedModel> seed_models() {
  return {{"classifier", classifier()},
          {"control_flow", control_flow()},
          {"old_functions", old_functions()},
          {"shape_arithmetic", shape_arithmetic()},
          {"mixed_types", mixed_types()}};
}

}  // namespace sardonyx::mutation
