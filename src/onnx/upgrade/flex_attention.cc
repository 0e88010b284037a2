#include <cmath>
#include <memory>

#include "base/fail.h"
#include "onnx/upgrade/upgrade_list.h"

namespace sardonyx::onnx {
namespace {

using graph::Graph;
using graph::kNoValue;

/// Copies the nodes of a body of one output into the upgrader's graph, where `inputs` stand for the body's, and returns
/// the value that stands for its output.
ValueId inline_body(Upgrader& upgrader, const Graph& body, const std::vector<ValueId>& inputs,
                    const std::string& place) {
  if (body.inputs.size() != inputs.size() || body.outputs.size() != 1) {
    fail(ErrorCode::kInvalidModel, "body '{}' of FlexAttention must take one tensor and give one, found {} and {}",
         body.name, body.inputs.size(), body.outputs.size());
  }
  std::vector<ValueId> outer(body.value_count(), kNoValue);
  for (std::size_t i = 0; i < inputs.size(); ++i) outer[static_cast<std::size_t>(body.inputs[i])] = inputs[i];
  const auto outer_value = [&](ValueId value) {
    if (value == kNoValue) return kNoValue;
    ValueId& known = outer[static_cast<std::size_t>(value)];
    if (known != kNoValue) return known;
    const graph::ValueInfo& info = body.value(value);
    const std::string name = place + "/" + info.name;
    return known = info.is_constant() ? upgrader.graph().add_constant(name, info.constant, info.type)
                                      : upgrader.graph().add_value(name);
  };
  for (graph::NodeId id : body.order()) {
    Node node = body.node(id);
    node.id = graph::kNoNode;
    node.name = place + "/" + node.name;
    for (ValueId& input : node.inputs) input = outer_value(input);
    for (ValueId& output : node.outputs) output = outer_value(output);
    upgrader.emit(std::move(node));
  }
  return outer_value(body.outputs[0]);
}

ValueId cast(Upgrader& upgrader, ValueId value, ElementType type) {
  if (upgrader.element(value) == type) return value;
  return upgrader.add("Cast", {value}, attributes_of({{"to", static_cast<std::int64_t>(type)}}));
}

/// Elements [begin, end) of a value's shape.
ValueId dims(Upgrader& upgrader, ValueId value, std::int64_t begin, std::int64_t end) {
  return upgrader.add("Shape", {value}, attributes_of({{"start", begin}, {"end", end}}));
}

/// Key or value with each head repeated for the query heads that share it.
ValueId repeat_heads(Upgrader& upgrader, ValueId x, ValueId query) {
  const ValueType &own = upgrader.type(x), &wanted = upgrader.type(query);
  if (own.has_rank && wanted.has_rank && own.dims[1] == wanted.dims[1]) return x;
  const ValueId group = upgrader.add("Div", {dims(upgrader, query, 1, 2), dims(upgrader, x, 1, 2)});
  const ValueId one = upgrader.ints({1});
  const Attributes along = attributes_of({{"axis", std::int64_t{0}}});
  const ValueId repeats = upgrader.add("Concat", {one, one, group, one, one}, along);
  const ValueId apart = upgrader.add("Unsqueeze", {x, upgrader.ints({2})});
  const ValueId shape =
      upgrader.add("Concat", {dims(upgrader, x, 0, 1), dims(upgrader, query, 1, 2), dims(upgrader, x, 2, 4)}, along);
  return upgrader.add("Reshape", {upgrader.add("Expand", {apart, repeats}), shape});
}

/// The square root of the scale, in the query's type: queries and keys are each multiplied by it.
ValueId root_of_scale(Upgrader& upgrader, const Node& node, ValueId query) {
  if (node.attributes.has("scale")) return upgrader.scalar_like(std::sqrt(node.attributes.get_float("scale")), query);
  const ValueType& type = upgrader.type(query);
  if (type.has_rank && type.dims[3].is_constant()) {
    const auto size = static_cast<float>(type.dims[3].constant());
    return upgrader.scalar_like(std::sqrt(1 / std::sqrt(size)), query);
  }
  const ValueId size = cast(upgrader, dims(upgrader, query, 3, 4), ElementType::kFloat32);
  const ValueId scale = upgrader.add("Reciprocal", {upgrader.add("Sqrt", {size})});
  return upgrader.add("CastLike", {upgrader.add("Sqrt", {scale}), query});
}

ElementType softmax_type(const Upgrader& upgrader, const Node& node) {
  const auto fallback =
      upgrader.element(node.input(0)) == ElementType::kFloat64 ? ElementType::kFloat64 : ElementType::kFloat32;
  const std::int64_t type = node.attributes.get_int("softmax_precision", static_cast<std::int64_t>(fallback));
  if (!is_element_type(type) || !is_floating_point(static_cast<ElementType>(type))) {
    fail(ErrorCode::kInvalidModel, "attribute 'softmax_precision' must name a floating-point type, found {}", type);
  }
  return static_cast<ElementType>(type);
}

}  // namespace

/// Attention whose scores and probabilities go through bodies of the model's own is what it is made of: matrix
/// products, a softmax, and the bodies' nodes in between.
void upgrade_flex_attention(Upgrader& upgrader, Node node) {
  if (node.inputs.size() < 3 + static_cast<std::size_t>(node.captures)) {
    fail(ErrorCode::kInvalidModel, "FlexAttention takes a query, a key and a value, found {} inputs",
         node.inputs.size());
  }
  const ValueId query = node.input(0), key = node.input(1), value = node.input(2);
  for (ValueId input : {query, key, value}) {
    if (upgrader.rank(input).value_or(4) != 4) {
      fail(ErrorCode::kInvalidModel, "FlexAttention takes tensors of rank 4, found {}",
           upgrader.type(input).to_string());
    }
  }
  const std::vector<ValueId> captures(node.inputs.end() - node.captures, node.inputs.end());
  const auto modify = [&](const char* name, ValueId x) {
    if (!node.attributes.has(name)) return x;
    std::vector<ValueId> inputs = {x};
    inputs.insert(inputs.end(), captures.begin(), captures.end());
    return inline_body(upgrader, *node.attributes.graph(name), inputs, node.name + "/" + name);
  };
  const ElementType type = softmax_type(upgrader, node);
  const ValueId root = root_of_scale(upgrader, node, query);
  const ValueId scaled_key = repeat_heads(upgrader, upgrader.add("Mul", {key, root}), query);
  const ValueId transposed =
      upgrader.add("Transpose", {scaled_key}, attributes_of({{"perm", std::vector<std::int64_t>{0, 1, 3, 2}}}));
  const ValueId products = upgrader.add("MatMul", {upgrader.add("Mul", {query, root}), transposed});
  const ValueId scores = modify("score_mod", cast(upgrader, products, type));
  const ValueId weights =
      modify("prob_mod", upgrader.add("Softmax", {scores}, attributes_of({{"axis", std::int64_t{-1}}})));
  const ValueId values = cast(upgrader, repeat_heads(upgrader, value, query), type);
  if (upgrader.element(value) == type) return upgrader.add_as(node, "MatMul", {weights, values});
  upgrader.add_as(node, "CastLike", {upgrader.add("MatMul", {weights, values}), value});
}

}  // namespace sardonyx::onnx
