// Every pass, fusion and rewrite on a small model of its own: it must do what it is for, be what does it (off, it isn't
// done), and change no answer.
#include <cmath>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "sardonyx/session.h"

#include "onnx/proto_builder.h"

namespace sardonyx::api {
namespace {

using namespace onnx::testing;  // NOLINT(google-build-using-namespace)

constexpr std::int64_t kFloat = 1;

std::string bytes(std::string_view name, const std::vector<std::int64_t>& dims,
                  const std::vector<std::int8_t>& values) {
  return tensor_header(name, 3, dims)
      .text(9, std::string_view(reinterpret_cast<const char*>(values.data()), values.size()));
}
/// Bytes of every value.
std::string table(std::string_view name, const std::vector<std::int64_t>& dims) {
  std::vector<std::int8_t> values(static_cast<std::size_t>(dims[0] * dims[1]));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int8_t>(i * 37 + i / 256);
  return bytes(name, dims, values);
}
/// Floats that repeat nowhere soon, in [-1, 1).
std::vector<float> floats(std::size_t count, std::uint32_t seed = 1) {
  std::vector<float> values(count);
  for (float& value : values)
    value = static_cast<float>((seed = seed * 1664525U + 1013904223U) >> 8) / 8388608.0f - 1.0f;
  return values;
}
std::string weights(std::string_view name, const std::vector<std::int64_t>& dims, std::uint32_t seed = 7) {
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) count *= dim;
  return float_tensor(name, dims, floats(static_cast<std::size_t>(count), seed));
}

struct Feed {
  std::string name;
  Shape shape;  ///< what is fed; the model declares its first dimension as a symbol
};

struct Case {
  std::string name;           ///< what the test is called
  std::string pass;           ///< what is switched off
  std::string op;             ///< the operator that is counted
  std::size_t with, without;  ///< how many are placed
  std::vector<Feed> inputs;
  std::vector<std::string> nodes, initializers;
};

std::string model_of(const Case& c) {
  GraphParts parts;
  parts.nodes = c.nodes;
  parts.initializers = c.initializers;
  for (const Feed& input : c.inputs) {
    std::vector<std::int64_t> dims(input.shape.begin(), input.shape.end());
    dims[0] = -1;
    parts.inputs.push_back(value_info(input.name, kFloat, dims));
  }
  parts.outputs = {untyped("y")};
  return model(onnx::testing::graph(parts), 20);
}

Session load(const Case& c, const SessionOptions& options) {
  const std::string model = model_of(c);
  return Session::load(std::as_bytes(std::span(model)), options);
}

std::size_t count_op(const Session& session, const std::string& op) {
  const nlohmann::json report = nlohmann::json::parse(session.explain_json());
  std::size_t count = 0;
  for (const auto& node : report["nodes"]) count += node["operator"] == op ? 1 : 0;
  return count;
}

std::vector<float> run(const Session& session, const Case& c) {
  NamedValues inputs;
  std::uint32_t seed = 3;
  for (const Feed& input : c.inputs) {
    inputs.emplace_back(
        input.name,
        Tensor::from<float>(input.shape, floats(static_cast<std::size_t>(input.shape.num_elements()), ++seed)));
  }
  const std::vector<Value> outputs = session.run(inputs);
  const auto values = outputs.at(0).tensor().span<float>();
  return {values.begin(), values.end()};
}

void expect_near(const std::vector<float>& expected, const std::vector<float>& found) {
  ASSERT_EQ(expected.size(), found.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (std::isnan(expected[i]))
      EXPECT_TRUE(std::isnan(found[i])) << i;
    else
      EXPECT_NEAR(expected[i], found[i], 1e-5) << i;
  }
}

class Optimizer : public testing::TestWithParam<Case> {};

TEST_P(Optimizer, DoesItAndChangesNoAnswer) {
  const Case& c = GetParam();
  SessionOptions all, off, plain;
  off.disabled_passes = {c.pass};
  plain.optimization_level = OptimizationLevel::kDisable;
  const Session optimized = load(c, all), partly = load(c, off);
  EXPECT_EQ(count_op(optimized, c.op), c.with);
  EXPECT_EQ(count_op(partly, c.op), c.without) << "with " << c.pass << " off";
  const std::vector<float> expected = run(load(c, plain), c);
  expect_near(expected, run(optimized, c));
  expect_near(expected, run(partly, c));
}

std::vector<Case> pass_cases() {
  const std::vector<Feed> matrix = {{"x", {2, 6}}};
  const std::string perm = ints_attribute("perm", {1, 0});
  std::vector<Case> cases = {
      {"Identity",
       "identity",
       "Identity",
       0,
       1,
       matrix,
       {node("Identity", {"x"}, {"a"}), node("Relu", {"a"}, {"y"})},
       {}},
      {"Dropout", "dropout", "Dropout", 0, 1, matrix, {node("Dropout", {"x"}, {"a"}), node("Relu", {"a"}, {"y"})}, {}},
      {"NoOpCast",
       "no-op-cast",
       "Cast",
       0,
       1,
       matrix,
       {node("Cast", {"x"}, {"a"}, {int_attribute("to", 1)}), node("Relu", {"a"}, {"y"})},
       {}},
      {"ConstantFolding",
       "constant-folding",
       "Exp",
       0,
       1,
       matrix,
       {node("Exp", {"w"}, {"a"}), node("Add", {"x", "a"}, {"y"})},
       {weights("w", {6})}},
      {"ShapeArithmetic",
       "shape-arithmetic",
       "Shape",
       0,
       1,
       matrix,
       {node("Shape", {"x"}, {"s"}), node("Gather", {"s", "zero"}, {"b"}),
        node("Concat", {"b", "rest"}, {"to"}, {int_attribute("axis", 0)}), node("Reshape", {"x", "to"}, {"y"})},
       {ints("zero", {0}), ints("rest", {3, 2})}},
      {"NoOpTranspose",
       "no-op-movement",
       "Transpose",
       0,
       1,
       matrix,
       {node("Transpose", {"x"}, {"a"}, {ints_attribute("perm", {0, 1})}), node("Relu", {"a"}, {"y"})},
       {}},
      {"NoOpSlice",
       "no-op-movement",
       "Slice",
       0,
       1,
       matrix,
       {node("Slice", {"x", "from", "to", "axis"}, {"a"}), node("Relu", {"a"}, {"y"})},
       {ints("from", {0}), ints("to", {1000}), ints("axis", {1})}},
      {"TwoTransposes",
       "merge-movement",
       "Transpose",
       1,
       2,
       {{"x", {2, 3, 4}}},
       {node("Transpose", {"x"}, {"a"}, {ints_attribute("perm", {1, 2, 0})}),
        node("Transpose", {"a"}, {"y"}, {ints_attribute("perm", {1, 2, 0})})},
       {}},
      {"TwoReshapes",
       "merge-movement",
       "Reshape",
       1,
       2,
       matrix,
       {node("Reshape", {"x", "first"}, {"a"}), node("Reshape", {"a", "second"}, {"y"})},
       {ints("first", {-1, 2, 3}), ints("second", {3, -1})}},
      {"EqualNodes",
       "common-subexpressions",
       "Exp",
       1,
       2,
       matrix,
       {node("Exp", {"x"}, {"a"}), node("Exp", {"x"}, {"b"}), node("Add", {"a", "b"}, {"y"})},
       {}},
      {"BatchNorm",
       "batch-norm-folding",
       "BatchNormalization",
       0,
       1,
       {{"x", {1, 2, 5, 5}}},
       {node("Conv", {"x", "w"}, {"a"}), node("BatchNormalization", {"a", "scale", "bias", "mean", "var"}, {"y"})},
       {weights("w", {3, 2, 3, 3}), float_tensor("scale", {3}, {1, 2, 0.5}), float_tensor("bias", {3}, {0, 1, -1}),
        float_tensor("mean", {3}, {0.1F, 0.2F, -0.3F}), float_tensor("var", {3}, {1, 0.5, 2})}},
      {"ConvScaleAndShift",
       "conv-affine-folding",
       "Mul",
       0,
       1,
       {{"x", {1, 2, 5, 5}}},
       {node("Conv", {"x", "w", "before"}, {"a"}), node("Mul", {"per_channel", "a"}, {"b"}),
        node("Add", {"b", "shift"}, {"y"})},
       {weights("w", {3, 2, 3, 3}), float_tensor("before", {3}, {1, -2, 0.25F}),
        float_tensor("per_channel", {3, 1, 1}, {0.5F, -1, 3}), float_tensor("shift", {1}, {0.75F})}},
      {"ConvShiftPerChannel",
       "conv-affine-folding",
       "Add",
       0,
       1,
       {{"x", {1, 2, 5, 5}}},
       {node("Conv", {"x", "w"}, {"a"}), node("Add", {"a", "shift"}, {"y"})},
       {weights("w", {3, 2, 3, 3}), float_tensor("shift", {1, 3, 1, 1}, {0.5F, -1, 3})}},
      {"TransposedConvScaleAndShift",
       "conv-affine-folding",
       "Mul",
       0,
       1,
       {{"x", {1, 2, 4, 5}}},
       {node("ConvTranspose", {"x", "w"}, {"a"}), node("Mul", {"a", "per_channel"}, {"b"}),
        node("Add", {"shift", "b"}, {"y"})},
       {weights("w", {2, 3, 2, 3}), float_tensor("per_channel", {1, 3, 1, 1}, {0.5F, -1, 3}),
        float_tensor("shift", {3, 1, 1}, {0.75F, 2, -1})}},
      {"BatchNormOfATransposedConv",
       "batch-norm-folding",
       "BatchNormalization",
       0,
       1,
       {{"x", {1, 2, 5, 5}}},
       {node("ConvTranspose", {"x", "w", "before"}, {"a"}),
        node("BatchNormalization", {"a", "scale", "bias", "mean", "var"}, {"y"})},
       {weights("w", {2, 3, 3, 3}), float_tensor("before", {3}, {1, 2, 3}), float_tensor("scale", {3}, {1, 2, 0.5}),
        float_tensor("bias", {3}, {0, 1, -1}), float_tensor("mean", {3}, {0.1F, 0.2F, -0.3F}),
        float_tensor("var", {3}, {1, 0.5, 2})}},
      {"TransposePushing",
       "transpose-pushing",
       "Transpose",
       0,
       2,
       matrix,
       {node("Transpose", {"x"}, {"a"}, {perm}), node("Erf", {"a"}, {"b"}), node("Transpose", {"b"}, {"y"}, {perm})},
       {}},
      {"CastWeightsPerColumn",
       "cast-dequantizing",
       "Mul",
       0,
       1,
       {{"x", {3, 40}}},
       {node("Cast", {"table"}, {"a"}, {int_attribute("to", 1)}), node("Mul", {"a", "scale"}, {"w"}),
        node("MatMul", {"x", "w"}, {"y"})},
       {table("table", {40, 32}), weights("scale", {1, 32})}},
      {"CastWeightsPerRow",
       "cast-dequantizing",
       "DequantizeLinear",
       1,
       0,
       {{"x", {3, 40}}},
       {node("Cast", {"table"}, {"a"}, {int_attribute("to", 1)}), node("Mul", {"scale", "a"}, {"w"}),
        node("MatMul", {"x", "w"}, {"y"})},
       {table("table", {40, 32}), weights("scale", {40, 1})}},
      {"DequantizedGather",
       "dequantized-gather",
       "DequantizeLinear",
       0,
       1,
       {{"x", {3, 2}}},
       {node("DequantizeLinear", {"table", "scale"}, {"rows"}, {int_attribute("axis", 0)}),
        node("Mul", {"x", "range"}, {"wide"}), node("Cast", {"wide"}, {"i"}, {int_attribute("to", 7)}),
        node("Gather", {"rows", "i"}, {"y"})},
       {table("table", {40, 32}), weights("scale", {40}), float_tensor("range", {}, {40})}},
      {"UnreadRows",
       "unread-rows",
       "Slice",
       1,
       0,
       {{"x", {2, 5, 6}}},
       {node("LayerNormalization", {"x", "scale"}, {"a"}),
        node("Gather", {"a", "zero"}, {"y"}, {int_attribute("axis", 1)})},
       {weights("scale", {6}), ints("zero", {0}, true)}},
  };
  return cases;
}

std::vector<Case> fusion_cases() {
  const std::vector<Feed> rows = {{"x", {2, 3, 4}}}, image = {{"x", {1, 2, 5, 5}}};
  const auto number = [](const char* name, float value) { return float_tensor(name, {}, {value}); };
  return {
      {"Gelu",
       "gelu-fusion",
       "Gelu",
       1,
       0,
       rows,
       {node("Div", {"x", "root2"}, {"a"}), node("Erf", {"a"}, {"b"}), node("Add", {"b", "one"}, {"c"}),
        node("Mul", {"x", "c"}, {"d"}), node("Mul", {"d", "half"}, {"y"})},
       {number("root2", 1.41421356F), number("one", 1), number("half", 0.5F)}},
      {"GeluOfTorchExport",
       "gelu-fusion",
       "Gelu",
       1,
       0,
       rows,
       {node("Div", {"x", "root2"}, {"a"}), node("Erf", {"a"}, {"b"}), node("Add", {"b", "one"}, {"c"}),
        node("Mul", {"half", "c"}, {"d"}), node("Mul", {"x", "d"}, {"y"})},
       {number("root2", 1.41421356F), number("one", 1), number("half", 0.5F)}},
      {"GeluHalvedFirst",
       "gelu-fusion",
       "Gelu",
       1,
       0,
       rows,
       {node("Mul", {"x", "root_half"}, {"a"}), node("Erf", {"a"}, {"b"}), node("Add", {"one", "b"}, {"c"}),
        node("Mul", {"half", "x"}, {"d"}), node("Mul", {"c", "d"}, {"y"})},
       {number("root_half", 0.70710678F), number("one", 1), number("half", 0.5F)}},
      {"HardSwishDividedLast",
       "hard-swish-fusion",
       "HardSwish",
       1,
       0,
       rows,
       {node("Add", {"x", "three"}, {"a"}), node("Clip", {"a", "zero", "six"}, {"b"}), node("Mul", {"x", "b"}, {"c"}),
        node("Div", {"c", "six"}, {"y"})},
       {number("three", 3), number("zero", 0), number("six", 6)}},
      {"HardSwishDividedFirst",
       "hard-swish-fusion",
       "HardSwish",
       1,
       0,
       rows,
       {node("Add", {"three", "x"}, {"a"}), node("Clip", {"a", "zero", "six"}, {"b"}),
        node("Mul", {"sixth", "b"}, {"c"}), node("Mul", {"c", "x"}, {"y"})},
       {number("three", 3), number("zero", 0), number("six", 6), number("sixth", 1.0F / 6)}},
      {"HardSwishOfASigmoid",
       "hard-swish-fusion",
       "HardSwish",
       1,
       0,
       rows,
       {node("HardSigmoid", {"x"}, {"a"}, {float_attribute("alpha", 1.0F / 6)}), node("Mul", {"a", "x"}, {"y"})},
       {}},
      {"Swish",
       "swish-fusion",
       "Swish",
       1,
       0,
       rows,
       {node("Sigmoid", {"x"}, {"a"}), node("Mul", {"x", "a"}, {"y"})},
       {}},
      {"ConvWithSwish",
       "swish-fusion",
       "FusedConv",
       1,
       0,
       {{"x", {1, 2, 5, 5}}},
       {node("Conv", {"x", "w"}, {"a"}), node("Sigmoid", {"a"}, {"b"}), node("Mul", {"b", "a"}, {"y"})},
       {weights("w", {3, 2, 3, 3})}},
      {"TanhGelu",
       "tanh-gelu-fusion",
       "Gelu",
       1,
       0,
       rows,
       {node("Pow", {"x", "three"}, {"p"}), node("Mul", {"p", "c"}, {"q"}), node("Add", {"x", "q"}, {"r"}),
        node("Mul", {"r", "root"}, {"s"}), node("Tanh", {"s"}, {"t"}), node("Add", {"t", "one"}, {"u"}),
        node("Mul", {"x", "half"}, {"h"}), node("Mul", {"h", "u"}, {"y"})},
       {number("three", 3), number("c", 0.044715F), number("root", 0.7978845608F), number("one", 1),
        number("half", 0.5F)}},
      {"TanhGeluOfProducts",
       "tanh-gelu-fusion",
       "Gelu",
       1,
       0,
       rows,
       {node("Mul", {"x", "x"}, {"xx"}), node("Mul", {"xx", "x"}, {"p"}), node("Mul", {"c", "p"}, {"q"}),
        node("Add", {"q", "x"}, {"r"}), node("Mul", {"root", "r"}, {"s"}), node("Tanh", {"s"}, {"t"}),
        node("Add", {"one", "t"}, {"u"}), node("Mul", {"x", "u"}, {"v"}), node("Mul", {"v", "half"}, {"y"})},
       {number("three", 3), number("c", 0.044715F), number("root", 0.7978845608F), number("one", 1),
        number("half", 0.5F)}},
      {"MatMulTanhGelu",
       "tanh-gelu-fusion",
       "Tanh",
       0,
       1,
       rows,
       {node("MatMul", {"x", "w"}, {"a"}), node("Pow", {"a", "three"}, {"p"}), node("Mul", {"p", "c"}, {"q"}),
        node("Add", {"a", "q"}, {"r"}), node("Mul", {"r", "root"}, {"s"}), node("Tanh", {"s"}, {"t"}),
        node("Add", {"t", "one"}, {"u"}), node("Mul", {"a", "half"}, {"h"}), node("Mul", {"h", "u"}, {"y"})},
       {weights("w", {4, 4}), number("three", 3), number("c", 0.044715F), number("root", 0.7978845608F),
        number("one", 1), number("half", 0.5F)}},
      {"MatMulBiasActivation",
       "matmul-fusion",
       "FusedMatMul",
       1,
       0,
       rows,
       {node("MatMul", {"x", "w"}, {"a"}), node("Add", {"bias", "a"}, {"b"}), node("Relu", {"b"}, {"y"})},
       {weights("w", {4, 5}), weights("bias", {5})}},
      {"MatMulResidual",
       "matmul-fusion",
       "FusedMatMul",
       1,
       0,
       rows,
       {node("MatMul", {"x", "w"}, {"a"}), node("Add", {"a", "x"}, {"y"})},
       {weights("w", {4, 4})}},
      {"MatMulOfBytes",
       "matmul-fusion",
       "FusedMatMul",
       1,
       0,
       rows,
       {node("DequantizeLinear", {"q", "scale"}, {"w"}, {int_attribute("axis", 1)}), node("MatMul", {"x", "w"}, {"y"})},
       {table("q", {4, 80}), float_tensor("scale", {80}, std::vector<float>(80, 0.01F))}},
      {"ConvActivation",
       "conv-fusion",
       "FusedConv",
       1,
       0,
       image,
       {node("Conv", {"x", "w"}, {"a"}), node("Relu", {"a"}, {"y"})},
       {weights("w", {3, 2, 3, 3})}},
      {"ConvClip",
       "conv-fusion",
       "FusedConv",
       1,
       0,
       image,
       {node("Conv", {"x", "w"}, {"a"}), node("Clip", {"a", "low", "high"}, {"y"})},
       {weights("w", {3, 2, 3, 3}), number("low", 0), number("high", 0.5F)}},
  };
}

/// How an export spells attention over q, k and v of [batch, rows, 2 heads · 4], or of [batch, 2 heads, rows, 4] where
/// `split`.
struct Attention {
  enum class Key { kOneTranspose, kTwoTransposes, kThroughThreeDimensions };

  Key key = Key::kOneTranspose;
  bool scale_both = false;  ///< q and kᵀ by √scale each; false: the product by scale
  bool divide = false;
  bool zero_where_nan = false;
  Shape mask = {2, 1, 1, 5};
  bool split = false;
  bool swapped_mask = false;  ///< mask + scores

  std::vector<std::string> nodes() const {
    const std::string swap = ints_attribute("perm", {0, 2, 1, 3});
    std::vector<std::string> out;
    for (const std::string name : {"q", "k", "v"}) {
      if (!split) out.push_back(node("Reshape", {name, "split"}, {name + "4"}));
      if (!split && name != "k") out.push_back(node("Transpose", {name + "4"}, {name + "h"}, {swap}));
    }
    if (split) {
      out.push_back(node("Transpose", {"kh"}, {"kt"}, {ints_attribute("perm", {0, 1, 3, 2})}));
    } else if (key == Key::kOneTranspose) {
      out.push_back(node("Transpose", {"k4"}, {"kt"}, {ints_attribute("perm", {0, 2, 3, 1})}));
    } else {
      out.push_back(node("Transpose", {"k4"}, {"kh"}, {swap}));
      if (key == Key::kTwoTransposes) {
        out.push_back(node("Transpose", {"kh"}, {"kt"}, {ints_attribute("perm", {0, 1, 3, 2})}));
      } else {
        out.push_back(node("Reshape", {"kh", "three"}, {"k3"}));
        out.push_back(node("Transpose", {"k3"}, {"k3t"}, {ints_attribute("perm", {0, 2, 1})}));
        out.push_back(node("Reshape", {"k3t", "four"}, {"kt"}));
      }
    }
    if (scale_both) {
      out.push_back(node("Mul", {"qh", "root"}, {"qs"}));
      out.push_back(node("Mul", {"kt", "root"}, {"ks"}));
      out.push_back(node("MatMul", {"qs", "ks"}, {"s"}));
    } else {
      out.push_back(node("MatMul", {"qh", "kt"}, {"raw"}));
      out.push_back(divide ? node("Div", {"raw", "inverse"}, {"s"}) : node("Mul", {"raw", "scale"}, {"s"}));
    }
    out.push_back(swapped_mask ? node("Add", {"mask", "s"}, {"masked"}) : node("Add", {"s", "mask"}, {"masked"}));
    out.push_back(node("Softmax", {"masked"}, {"p"}, {int_attribute("axis", -1)}));
    if (zero_where_nan) {
      out.push_back(node("IsNaN", {"p"}, {"nan"}));
      out.push_back(node("Where", {"nan", "zero", "p"}, {"w"}));
    }
    out.push_back(node("MatMul", {zero_where_nan ? "w" : "p", "vh"}, {split ? "y" : "o"}));
    if (!split) {
      out.push_back(node("Transpose", {"o"}, {"o4"}, {swap}));
      out.push_back(node("Reshape", {"o4", "join"}, {"y"}));
    }
    return out;
  }

  Case make(const char* name, std::size_t fused = 1) const {
    const std::vector<Feed> packed_inputs = {{"q", {2, 3, 8}}, {"k", {2, 5, 8}}, {"v", {2, 5, 8}}, {"mask", mask}},
                            split_inputs = {
                                {"qh", {2, 2, 3, 4}}, {"kh", {2, 2, 5, 4}}, {"vh", {2, 2, 5, 4}}, {"mask", mask}};
    return {name,
            "attention-fusion",
            "FusedAttention",
            fused,
            0,
            split ? split_inputs : packed_inputs,
            nodes(),
            {ints("split", {0, 0, 2, 4}), ints("join", {0, 0, 8}), ints("three", {-1, 5, 4}),
             ints("four", {-1, 2, 4, 5}), float_tensor("scale", {}, {0.5F}), float_tensor("inverse", {}, {2}),
             float_tensor("root", {}, {0.70710678F}), float_tensor("zero", {}, {0})}};
  }
};

std::vector<Case> attention_cases() {
  using Key = Attention::Key;
  return {
      Attention{}.make("AttentionOfBert"),
      Attention{.divide = true, .swapped_mask = true}.make("AttentionDividedMaskFirst"),
      Attention{.scale_both = true, .zero_where_nan = true, .mask = {2, 1, 3, 5}}.make("AttentionOfSdpa"),
      Attention{.key = Key::kTwoTransposes}.make("AttentionTwoTransposes"),
      Attention{.key = Key::kThroughThreeDimensions, .scale_both = true, .zero_where_nan = true}.make(
          "AttentionOfTorchExport"),
      Attention{.mask = {2, 2, 3, 5}, .split = true}.make("AttentionOfSplitHeads"),
  };
}

std::string name_of(const testing::TestParamInfo<Case>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Passes, Optimizer, testing::ValuesIn(pass_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Fusions, Optimizer, testing::ValuesIn(fusion_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Attention, Optimizer, testing::ValuesIn(attention_cases()), name_of);

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
      {"TanhGeluOfAnotherPower",
       "",
       "Gelu",
       0,
       0,
       rows,
       {node("Pow", {"x", "three"}, {"p"}), node("Mul", {"p", "c"}, {"q"}), node("Add", {"x", "q"}, {"r"}),
        node("Mul", {"r", "root"}, {"s"}), node("Tanh", {"s"}, {"t"}), node("Add", {"t", "one"}, {"u"}),
        node("Mul", {"x", "half"}, {"h"}), node("Mul", {"h", "u"}, {"y"})},
       {number("three", 2), number("c", 0.044715F), number("root", 0.7978845608F), number("one", 1),
        number("half", 0.5F)}},
      {"TanhGeluOfAnotherFactor",
       "",
       "Gelu",
       0,
       0,
       rows,
       {node("Pow", {"x", "three"}, {"p"}), node("Mul", {"p", "c"}, {"q"}), node("Add", {"x", "q"}, {"r"}),
        node("Mul", {"r", "root"}, {"s"}), node("Tanh", {"s"}, {"t"}), node("Add", {"t", "one"}, {"u"}),
        node("Mul", {"x", "half"}, {"h"}), node("Mul", {"h", "u"}, {"y"})},
       {number("three", 3), number("c", 0.05F), number("root", 0.7978845608F), number("one", 1), number("half", 0.5F)}},
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
