#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "optimizer/passes/passes.h"

namespace sardonyx::optimizer {
namespace {

using graph::Graph;
using graph::Node;

/// Elementwise operators of one tensor input (others are attributes or scalars): they commute with Transpose.
bool is_unary_elementwise(const Node& node) {
  static constexpr std::string_view kOps[] = {
      "Abs",         "Cast",      "Ceil",      "Clip",     "Elu",      "Erf",  "Exp",        "Floor", "Gelu",
      "HardSigmoid", "HardSwish", "LeakyRelu", "Log",      "Neg",      "Not",  "Reciprocal", "Relu",  "Round",
      "Selu",        "Sigmoid",   "Sign",      "Softplus", "Softsign", "Sqrt", "Tanh"};
  return node.domain.empty() && std::find(std::begin(kOps), std::end(kOps), node.op_type) != std::end(kOps);
}

}  // namespace

/// Transpose → elementwise → Transpose becomes elementwise → Transpose → Transpose, which then merge. Nothing moves
/// unless a second Transpose waits behind, so the pass can't go in circles. Each node is touched once a call: what it
/// reads is known no more.
bool push_transposes(PassContext&, Graph& graph) {
  std::unordered_set<graph::NodeId> touched;
  const auto uses = graph.uses();
  const auto sole_reader = [&](graph::ValueId value) -> Node* {
    const auto& readers = uses[static_cast<std::size_t>(value)];
    return readers.size() == 1 && readers[0].node != graph::kNoNode ? &graph.node(readers[0].node) : nullptr;
  };
  for (graph::NodeId id : graph.order()) {
    Node& transpose = graph.node(id);
    if (!transpose.is("Transpose")) continue;
    Node* middle = sole_reader(transpose.outputs[0]);
    if (!middle || !is_unary_elementwise(*middle) || middle->inputs[0] != transpose.outputs[0]) continue;
    const Node* behind = sole_reader(middle->outputs[0]);
    if (!behind || !behind->is("Transpose")) continue;
    if (touched.contains(id) || touched.contains(middle->id) || touched.contains(behind->id)) continue;
    touched.insert({id, middle->id, behind->id});
    // x → T → f → y becomes x → f → T → y: the two nodes swap what they read, and f gets a value of x's shape.
    const graph::ValueId x = transpose.inputs[0], y = middle->outputs[0];
    const graph::ValueId fx = graph.add_value(graph.value(y).name + "/pushed");
    graph.value(fx).type = graph.value(x).type;
    graph.value(fx).type.element = graph.value(y).type.element;
    graph.value(fx).type.values.reset();
    middle->inputs[0] = x;
    middle->outputs[0] = fx;
    graph.value(fx).producer = middle->id;
    transpose.inputs[0] = fx;
    graph.value(transpose.outputs[0]).producer = graph::kNoNode;
    transpose.outputs[0] = y;
    graph.value(y).producer = transpose.id;
  }
  if (!touched.empty()) graph.sort();
  return !touched.empty();
}

}  // namespace sardonyx::optimizer
