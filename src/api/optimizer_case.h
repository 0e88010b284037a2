#pragma once

// For the tests of the optimiser: a small model as a row of a table, run with and without what is tested.

#include <cmath>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sardonyx/session.h"

#include "onnx/proto_builder.h"

namespace sardonyx::api::optimizer_test {

using namespace onnx::testing;  // NOLINT(google-build-using-namespace)

inline constexpr std::int64_t kFloat = 1;

inline std::string bytes(std::string_view name, const std::vector<std::int64_t>& dims,
                         const std::vector<std::int8_t>& values) {
  return tensor_header(name, 3, dims)
      .text(9, std::string_view(reinterpret_cast<const char*>(values.data()), values.size()));
}
/// Bytes of every value.
inline std::string table(std::string_view name, const std::vector<std::int64_t>& dims) {
  std::vector<std::int8_t> values(static_cast<std::size_t>(dims[0] * dims[1]));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int8_t>(i * 37 + i / 256);
  return bytes(name, dims, values);
}
/// Floats that repeat nowhere soon, in [-1, 1).
inline std::vector<float> floats(std::size_t count, std::uint32_t seed = 1) {
  std::vector<float> values(count);
  for (float& value : values)
    value = static_cast<float>((seed = seed * 1664525U + 1013904223U) >> 8) / 8388608.0f - 1.0f;
  return values;
}
inline std::string weights(std::string_view name, const std::vector<std::int64_t>& dims, std::uint32_t seed = 7) {
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

inline std::string model_of(const Case& c) {
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

inline Session load(const Case& c, const SessionOptions& options) {
  const std::string model = model_of(c);
  return Session::load(std::as_bytes(std::span(model)), options);
}

inline std::size_t count_op(const Session& session, const std::string& op) {
  const nlohmann::json report = nlohmann::json::parse(session.explain_json());
  std::size_t count = 0;
  for (const auto& node : report["nodes"]) count += node["operator"] == op ? 1 : 0;
  return count;
}

inline std::vector<float> run(const Session& session, const Case& c) {
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

inline void expect_near(const std::vector<float>& expected, const std::vector<float>& found) {
  ASSERT_EQ(expected.size(), found.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (std::isnan(expected[i]))
      EXPECT_TRUE(std::isnan(found[i])) << i;
    else
      EXPECT_NEAR(expected[i], found[i], 1e-5) << i;
  }
}

/// How GPT-2 spells the tanh form of GELU: y of x.
inline std::vector<std::string> tanh_gelu_nodes(const std::string& x = "x") {
  return {node("Pow", {x, "three"}, {"p"}),  node("Mul", {"p", "c"}, {"q"}), node("Add", {x, "q"}, {"r"}),
          node("Mul", {"r", "root"}, {"s"}), node("Tanh", {"s"}, {"t"}),     node("Add", {"t", "one"}, {"u"}),
          node("Mul", {x, "half"}, {"h"}),   node("Mul", {"h", "u"}, {"y"})};
}
inline std::vector<std::string> tanh_gelu_constants(float power = 3, float factor = 0.044715F) {
  return {float_tensor("three", {}, {power}), float_tensor("c", {}, {factor}),
          float_tensor("root", {}, {0.7978845608F}), float_tensor("one", {}, {1}), float_tensor("half", {}, {0.5F})};
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

inline std::string name_of(const testing::TestParamInfo<Case>& info) { return info.param.name; }

}  // namespace sardonyx::api::optimizer_test
