// Small files that ask for much: each must be loaded or refused in bounded time and memory.

#include <chrono>
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "sardonyx/error.h"

#include "memory_meter.h"
#include "onnx/proto_builder.h"

namespace sardonyx::mutation {
namespace {

using namespace onnx::testing;  // NOLINT: the message builders
using onnx::testing::graph;     // not the namespace

constexpr std::size_t kMostMemory = std::size_t{1} << 30;
constexpr std::chrono::seconds kMostTime{60};  // on a busy machine, with sanitizers; most take milliseconds

std::string name(const char* stem, int i) { return fmt::format("{}{}", stem, i); }

Message int64s(std::string_view tensor, const std::vector<std::int64_t>& values) {
  return tensor_header(tensor, 7, {static_cast<std::int64_t>(values.size())}).numbers(7, values);
}

const std::string kX = value_info("x", 1, {-1, -2});

/// nodes that start from "v0" = the first dimension of x and end in v<count>.
std::string on_a_dimension(int count, const std::vector<std::string>& nodes) {
  GraphParts parts{{node("Shape", {"x"}, {"s"}), node("Gather", {"s", "zero"}, {"v0"})},
                   {int64s("zero", {0}), int64s("one", {1}), int64s("two", {2})},
                   {kX},
                   {untyped(name("v", count))}};
  parts.nodes.insert(parts.nodes.end(), nodes.begin(), nodes.end());
  return model(graph(parts));
}

/// (..((d + 1) / 2 + 1) / 2 ..): an expression that grows with every step.
std::string growing_expression(int steps) {
  std::vector<std::string> nodes;
  for (int i = 0; i < steps; ++i) {
    nodes.push_back(node("Add", {name("v", i), "one"}, {name("w", i)}));
    nodes.push_back(node("Div", {name("w", i), "two"}, {name("v", i + 1)}));
  }
  return on_a_dimension(steps, nodes);
}

/// ((d + 1)²)²..: 2^steps terms.
std::string growing_polynomial(int steps) {
  std::vector<std::string> nodes{node("Add", {"v0", "one"}, {"p0"})};
  for (int i = 0; i < steps; ++i)
    nodes.push_back(node("Mul", {name("p", i), name("p", i)}, {i + 1 == steps ? name("v", steps) : name("p", i + 1)}));
  return on_a_dimension(steps, nodes);
}

/// A shape concatenated with itself: 2^steps values.
std::string doubling_values(int steps) {
  std::vector<std::string> nodes;
  for (int i = 0; i < steps; ++i)
    nodes.push_back(node("Concat", {name("v", i), name("v", i)}, {name("v", i + 1)}, {int_attribute("axis", 0)}));
  return on_a_dimension(steps, nodes);
}

std::string chain(const char* op, const std::string& first, const std::string& initializer, int length) {
  GraphParts parts{{first}, {initializer}, {kX}, {untyped(name("v", length))}};
  for (int i = 0; i < length; ++i) parts.nodes.push_back(node(op, {name("v", i)}, {name("v", i + 1)}));
  return model(graph(parts));
}

std::string many_known_values() {
  return chain("Identity", node("Identity", {"big"}, {"v0"}), int64s("big", std::vector<std::int64_t>(4096, 3)),
               50'000);
}
std::string high_rank() {
  return chain("Relu", node("Reshape", {"x", "big"}, {"v0"}), int64s("big", std::vector<std::int64_t>(4000, 1)),
               50'000);
}

/// ConstantOfShape of a vector as long as it says: the result's rank.
std::string declared_rank() {
  return model(graph({{node("ConstantOfShape", {"dims"}, {"y"})},
                      {},
                      {value_info("dims", 7, {std::int64_t{1} << 40})},
                      {untyped("y")}}));
}

Message function(std::string_view title, const std::string& output, const std::vector<std::string>& nodes) {
  return Message()
      .text(1, title)
      .text(4, "a")
      .text(5, output)
      .texts(7, nodes)
      .text(9, opset("", 21))
      .text(9, opset("local", 1))
      .text(10, "local");
}
Message call(const std::string& title, const std::string& from, const std::string& to) {
  return node(title, {from}, {to}).text(7, "local");
}

std::string with_functions(const std::vector<std::string>& nodes, const std::string& result,
                           const std::vector<std::string>& functions) {
  return Message(model(graph({nodes, {}, {kX}, {untyped(result)}}))).text(8, opset("local", 1)).texts(25, functions);
}

/// Each function calls the next four times; the last has no nodes.
std::string empty_functions(int levels) {
  std::vector<std::string> functions;
  for (int level = 0; level + 1 < levels; ++level) {
    std::vector<std::string> nodes;
    for (int i = 0; i < 4; ++i)
      nodes.push_back(call(name("F", level + 1), i == 0 ? "a" : name("t", i), i == 3 ? "r" : name("t", i + 1)));
    functions.push_back(function(name("F", level), "r", nodes));
  }
  functions.push_back(function(name("F", levels - 1), "a", {}));
  return with_functions({call("F0", "x", "y")}, "y", functions);
}

/// A call whose long name begins the name of everything in it.
std::string long_names() {
  std::vector<std::string> nodes;
  for (int i = 0; i < 5000; ++i)
    nodes.push_back(node("Relu", {i == 0 ? "a" : name("t", i)}, {i == 4999 ? "r" : name("t", i + 1)}));
  return with_functions({call("F", "x", "y").text(3, std::string(1 << 20, 'n'))}, "y", {function("F", "r", nodes)});
}

/// A function's constant that every call would copy.
std::string repeated_constants() {
  const std::string constant =
      node("Constant", {}, {"c"}, {tensor_attribute("value", int64s("", std::vector<std::int64_t>(100'000, 1)))});
  std::vector<std::string> calls;
  for (int i = 0; i < 10'000; ++i) calls.push_back(call("F", i == 0 ? "x" : name("y", i), name("y", i + 1)));
  return with_functions(calls, "y10000", {function("F", "r", {constant, node("Identity", {"a"}, {"r"})})});
}

std::string many_attributes() {
  std::vector<std::string> attributes;
  for (int i = 0; i < 100'000; ++i) attributes.push_back(int_attribute(name("a", i), i));
  return model(graph({{node("Relu", {"x"}, {"y"}, attributes)}, {}, {kX}, {untyped("y")}}));
}

GraphParts wide(int count) {
  GraphParts parts{{}, {}, {kX, value_info("c", 9, {})}, {untyped("y")}};
  for (int i = 0; i < count; ++i) parts.nodes.push_back(node("Relu", {"x"}, {name("v", i)}));
  return parts;
}
std::string reads_all(int count) {
  std::vector<std::string> inputs;
  for (int i = 0; i < count; ++i) inputs.push_back(name("v", i));
  return graph({{node("Sum", inputs, {"t"})}, {}, {}, {untyped("t")}});
}

std::string many_captures() {
  GraphParts parts = wide(50'000);
  const std::string body = reads_all(50'000);
  parts.nodes.push_back(
      node("If", {"c"}, {"y"}, {graph_attribute("then_branch", body), graph_attribute("else_branch", body)}));
  return model(graph(parts));
}

/// Every subgraph of a node takes what any of them captures.
std::string many_subgraphs() {
  GraphParts parts = wide(10'000);
  Message graphs = Message().text(1, "more").number(20, 10);
  for (int i = 0; i < 10'000; ++i) graphs.text(11, "");
  parts.nodes.push_back(
      node("Odd", {"c"}, {"y"}, {graph_attribute("one", reads_all(10'000)), graphs}).text(7, "custom"));
  return model(graph(parts));
}

std::string nested_loops(int depth) {
  std::string body;
  for (int i = 0; i < depth; ++i) {
    const std::string inner = body.empty()
                                  ? std::string(node("Add", {"v", "v"}, {"r"}))
                                  : std::string(node("Loop", {"m", "", "v"}, {"r"}, {graph_attribute("body", body)}));
    body = graph({{inner, node("Identity", {"k"}, {"k_out"})},
                  {},
                  {value_info("i", 7, {}), value_info("k", 9, {}), value_info("v", 1, {-1, -2})},
                  {untyped("k_out"), untyped("r")}});
  }
  return model(graph({{node("Loop", {"m", "", "x"}, {"y"}, {graph_attribute("body", body)})},
                      {tensor_header("m", 7, {}).number(7, 2)},
                      {kX},
                      {untyped("y")}}));
}

struct Bomb {
  const char* name;
  std::string (*make)();
  bool loads;
};

class Bombs : public ::testing::TestWithParam<Bomb> {};

TEST_P(Bombs, AreBounded) {
  const std::string file = GetParam().make();
  reset_peak();
  const std::size_t before = memory_in_use();
  const auto start = std::chrono::steady_clock::now();
  bool loads = true;
  try {
    onnx::testing::read(file);
  } catch (const Error& error) {
    loads = false;
    EXPECT_NE(error.code(), ErrorCode::kInternal) << error.what();
    EXPECT_FALSE(GetParam().loads) << error.what();
  }
  EXPECT_EQ(loads, GetParam().loads);
  EXPECT_LT(memory_peak() - before, kMostMemory);
  EXPECT_LT(std::chrono::steady_clock::now() - start, kMostTime);
}

INSTANTIATE_TEST_SUITE_P(
    Small, Bombs,
    ::testing::Values(Bomb{"growing_expression", [] { return growing_expression(10'000); }, true},
                      Bomb{"growing_polynomial", [] { return growing_polynomial(60); }, true},
                      Bomb{"doubling_values", [] { return doubling_values(50); }, true},
                      Bomb{"many_known_values", many_known_values, true}, Bomb{"high_rank", high_rank, false},
                      Bomb{"declared_rank", declared_rank, false},
                      Bomb{"empty_functions", [] { return empty_functions(30); }, false},
                      Bomb{"long_names", long_names, true}, Bomb{"repeated_constants", repeated_constants, false},
                      Bomb{"many_attributes", many_attributes, false}, Bomb{"many_captures", many_captures, true},
                      Bomb{"many_subgraphs", many_subgraphs, false},
                      Bomb{"nested_loops", [] { return nested_loops(60); }, true}),
    [](const ::testing::TestParamInfo<Bomb>& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace sardonyx::mutation
