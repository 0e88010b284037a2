#include <algorithm>
#include <iterator>

#include "base/fail.h"
#include "ops/infer.h"
#include "optimizer/gradient/gradient.h"

namespace sardonyx::optimizer {
namespace {

using graph::Attributes;
using graph::kNoValue;
using graph::Node;
using graph::ValueId;
using Builder = GradientBuilder;
using Gradients = std::vector<ValueId>;

[[noreturn]] void refuse(const Node& node, const char* why) {
  fail(ErrorCode::kUnsupported, "Gradient can't go through {}: {}", ops::node_place(node), why);
}

Attributes with(const char* name, graph::Attribute value) {
  Attributes attributes;
  attributes.set(name, std::move(value));
  return attributes;
}

// Elementwise, one input. x: the input, y: the output, g: y's gradient.
Gradients none(Builder&, const Node&, ValueId) { return {kNoValue}; }
Gradients identity(Builder&, const Node&, ValueId g) { return {g}; }
Gradients neg(Builder& b, const Node&, ValueId g) { return {b.neg(g)}; }
Gradients exp(Builder& b, const Node& n, ValueId g) { return {b.mul(g, n.outputs[0])}; }
Gradients log(Builder& b, const Node& n, ValueId g) { return {b.add("Div", {g, n.inputs[0]})}; }
Gradients sin(Builder& b, const Node& n, ValueId g) { return {b.mul(g, b.add("Cos", {n.inputs[0]}))}; }
Gradients cos(Builder& b, const Node& n, ValueId g) { return {b.neg(b.mul(g, b.add("Sin", {n.inputs[0]})))}; }
Gradients abs(Builder& b, const Node& n, ValueId g) { return {b.mul(g, b.add("Sign", {n.inputs[0]}))}; }
Gradients softplus(Builder& b, const Node& n, ValueId g) { return {b.mul(g, b.add("Sigmoid", {n.inputs[0]}))}; }
Gradients cast(Builder& b, const Node& n, ValueId g) { return {b.add("CastLike", {g, n.inputs[0]}), kNoValue}; }
Gradients sqrt(Builder& b, const Node& n, ValueId g) {
  return {b.add("Div", {g, b.add("Add", {n.outputs[0], n.outputs[0]})})};
}
Gradients reciprocal(Builder& b, const Node& n, ValueId g) {
  return {b.neg(b.mul(g, b.mul(n.outputs[0], n.outputs[0])))};
}
Gradients sigmoid(Builder& b, const Node& n, ValueId g) {
  const ValueId y = n.outputs[0];
  return {b.mul(g, b.mul(y, b.add("Sub", {b.number(1, y), y})))};
}
Gradients tanh(Builder& b, const Node& n, ValueId g) {
  const ValueId y = n.outputs[0];
  return {b.mul(g, b.add("Sub", {b.number(1, y), b.mul(y, y)}))};
}
/// g where x > 0, else slope · g.
Gradients rectified(Builder& b, const Node& n, ValueId g, float slope) {
  const ValueId x = n.inputs[0];
  const ValueId below = slope == 0 ? b.number(0, x) : b.mul(g, b.number(slope, x));
  return {b.add("Where", {b.add("Greater", {x, b.number(0, x)}), g, below})};
}
Gradients relu(Builder& b, const Node& n, ValueId g) { return rectified(b, n, g, 0); }
Gradients leaky_relu(Builder& b, const Node& n, ValueId g) {
  return rectified(b, n, g, n.attributes.get_float("alpha", 0.01F));
}

// Elementwise, two inputs that broadcast.
Gradients binary(Builder& b, const Node& n, ValueId left, ValueId right) {
  return {b.sum_to(left, n.outputs[0], n.inputs[0]), b.sum_to(right, n.outputs[0], n.inputs[1])};
}
Gradients add(Builder& b, const Node& n, ValueId g) { return binary(b, n, g, g); }
Gradients sub(Builder& b, const Node& n, ValueId g) { return binary(b, n, g, b.neg(g)); }
Gradients mul(Builder& b, const Node& n, ValueId g) {
  return binary(b, n, b.mul(g, n.inputs[1]), b.mul(g, n.inputs[0]));
}
Gradients div(Builder& b, const Node& n, ValueId g) {
  const ValueId left = b.add("Div", {g, n.inputs[1]});
  return binary(b, n, left, b.neg(b.mul(left, n.outputs[0])));
}
Gradients pow(Builder& b, const Node& n, ValueId g) {
  const ValueId x = n.inputs[0], exponent = b.add("CastLike", {n.inputs[1], x});
  const ValueId lower = b.add("Sub", {exponent, b.number(1, x)});
  const ValueId left = b.mul(g, b.mul(exponent, b.add("Pow", {x, lower})));
  const ValueId right = b.mul(g, b.mul(n.outputs[0], b.add("Log", {x})));
  return binary(b, n, left, b.add("CastLike", {right, n.inputs[1]}));
}
Gradients where(Builder& b, const Node& n, ValueId g) {
  const ValueId zero = b.number(0, g);
  const Gradients both = {b.add("Where", {n.inputs[0], g, zero}), b.add("Where", {n.inputs[0], zero, g})};
  return {kNoValue, b.sum_to(both[0], n.outputs[0], n.inputs[1]), b.sum_to(both[1], n.outputs[0], n.inputs[2])};
}

// Products.
Gradients mat_mul(Builder& b, const Node& n, ValueId g) {
  const auto &left = b.type(n.inputs[0]), &right = b.type(n.inputs[1]);
  if (!left.has_rank || !right.has_rank || left.rank() < 2 || right.rank() < 2) {
    refuse(n, "its inputs must be known to have rank 2 or more");
  }
  const ValueId to_left = b.add("MatMul", {g, b.transposed(n.inputs[1], right.rank())});
  const ValueId to_right = b.add("MatMul", {b.transposed(n.inputs[0], left.rank()), g});
  const bool plain = left.rank() == 2 && right.rank() == 2;
  if (plain) return {to_left, to_right};
  return {b.sum_to(to_left, n.inputs[0]), b.sum_to(to_right, n.inputs[1])};
}

Gradients gemm(Builder& b, const Node& n, ValueId g) {
  const bool a_transposed = n.attributes.get_int("transA", 0) != 0,
             b_transposed = n.attributes.get_int("transB", 0) != 0;
  const ValueId scaled = b.mul(g, b.number(n.attributes.get_float("alpha", 1), g));
  const auto t = [&](ValueId x, bool yes) { return yes ? b.transposed(x, 2) : x; };
  const ValueId left = t(n.inputs[0], a_transposed), right = t(n.inputs[1], b_transposed);  // as they are multiplied
  const ValueId to_left = b.add("MatMul", {scaled, b.transposed(right, 2)});
  const ValueId to_right = b.add("MatMul", {b.transposed(left, 2), scaled});
  Gradients result = {t(to_left, a_transposed), t(to_right, b_transposed)};
  if (n.has_input(2)) {
    const ValueId bias = b.mul(g, b.number(n.attributes.get_float("beta", 1), g));
    result.push_back(b.sum_to(bias, n.outputs[0], n.inputs[2]));
  }
  return result;
}

// Sums, and softmax.
ValueId spread(Builder& b, const Node& n, ValueId g) {
  if (n.attributes.get_int("keepdims", 1) == 0 && n.has_input(1)) {
    const Tensor* axes = b.constant(n.inputs[1]);
    if (!axes) refuse(n, "its axes must be constant");
    if (axes->num_elements() != 0) g = b.add("Unsqueeze", {g, n.inputs[1]});
  }
  return b.add("Expand", {g, b.add("Shape", {n.inputs[0]})});
}
Gradients reduce_sum(Builder& b, const Node& n, ValueId g) { return {spread(b, n, g), kNoValue}; }
Gradients reduce_mean(Builder& b, const Node& n, ValueId g) {
  const auto count = [&](ValueId x) { return b.add("CastLike", {b.add("Size", {x}), g}); };
  return {b.mul(spread(b, n, g), b.add("Div", {count(n.outputs[0]), count(n.inputs[0])})), kNoValue};
}
Gradients softmax(Builder& b, const Node& n, ValueId g) {
  const ValueId y = n.outputs[0];
  const ValueId total = b.add("ReduceSum", {b.mul(g, y), b.ints({n.attributes.get_int("axis", -1)})});
  return {b.mul(y, b.add("Sub", {g, total}))};
}

// Movement.
Gradients shaped_back(Builder& b, const Node& n, ValueId g) {
  return {b.add("Reshape", {g, b.add("Shape", {n.inputs[0]})}, with("allowzero", std::int64_t{1})), kNoValue};
}
Gradients expand(Builder& b, const Node& n, ValueId g) { return {b.sum_to(g, n.outputs[0], n.inputs[0]), kNoValue}; }
Gradients transpose(Builder& b, const Node& n, ValueId g) {
  const std::vector<std::int64_t>* perm = n.attributes.ints("perm");
  if (!perm) return {b.add("Transpose", {g})};
  std::vector<std::int64_t> inverse(perm->size());
  for (std::size_t i = 0; i < perm->size(); ++i)
    inverse[static_cast<std::size_t>((*perm)[i])] = static_cast<std::int64_t>(i);
  return {b.add("Transpose", {g}, with("perm", std::move(inverse)))};
}

struct Row {
  std::string_view op_type;
  DerivativeRule rule;
};

constexpr Row kRules[] = {
    {"Abs", abs},
    {"Add", add},
    {"Cast", cast},
    {"CastLike", cast},
    {"Ceil", none},
    {"Cos", cos},
    {"Div", div},
    {"Exp", exp},
    {"Expand", expand},
    {"Flatten", shaped_back},
    {"Floor", none},
    {"Gemm", gemm},
    {"Identity", identity},
    {"LeakyRelu", leaky_relu},
    {"Log", log},
    {"MatMul", mat_mul},
    {"Mul", mul},
    {"Neg", neg},
    {"Pow", pow},
    {"Reciprocal", reciprocal},
    {"ReduceMean", reduce_mean},
    {"ReduceSum", reduce_sum},
    {"Relu", relu},
    {"Reshape", shaped_back},
    {"Round", none},
    {"Sigmoid", sigmoid},
    {"Sign", none},
    {"Sin", sin},
    {"Softmax", softmax},
    {"Softplus", softplus},
    {"Sqrt", sqrt},
    {"Squeeze", shaped_back},
    {"Sub", sub},
    {"Tanh", tanh},
    {"Transpose", transpose},
    {"Unsqueeze", shaped_back},
    {"Where", where},
};

}  // namespace

DerivativeRule find_derivative_rule(std::string_view op_type) {
  const auto* row =
      std::find_if(std::begin(kRules), std::end(kRules), [&](const Row& r) { return r.op_type == op_type; });
  return row == std::end(kRules) ? nullptr : row->rule;
}

std::string derivative_rule_names() {
  std::string names;
  for (const Row& row : kRules) names += (names.empty() ? "" : ", ") + std::string(row.op_type);
  return names;
}

}  // namespace sardonyx::optimizer
