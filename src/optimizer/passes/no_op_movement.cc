#include <algorithm>

#include "optimizer/passes/passes.h"

namespace sardonyx::optimizer {
namespace {

using graph::Graph;
using graph::kNoValue;
using graph::Node;

/// Whether every element of a constant integer input passes a test; false where it is no constant.
template <typename Test>
bool all_of_constant(const PassContext& context, const Graph& graph, const Node& node, std::size_t input,
                     const Test& test) {
  const Tensor* constant = node.has_input(input) ? context.model.constant_of(graph, node.inputs[input]) : nullptr;
  if (!constant || !is_integer(constant->type()) || is_sub_byte(constant->type())) return false;
  const auto numbers = ops::to_int64s(constant->view());
  return std::all_of(numbers.begin(), numbers.end(), test);
}

bool is_identity_permutation(const std::vector<std::int64_t>& perm) {
  for (std::size_t i = 0; i < perm.size(); ++i) {
    if (perm[i] != static_cast<std::int64_t>(i)) return false;
  }
  return true;
}

bool changes_nothing(const PassContext& context, const Graph& graph, const Node& node) {
  if (!node.domain.empty() || node.outputs.empty() || node.outputs[0] == kNoValue || !node.has_input(0)) return false;
  const graph::ValueType &in = graph.value(node.inputs[0]).type, &out = graph.value(node.outputs[0]).type;
  if (!in.is_tensor() || !in.has_rank || !graph::same_type(in, out)) return false;
  const std::string& op = node.op_type;
  // The same shape does not mean the same elements where an operator can also reorder or shift them.
  if (op == "Transpose") return node.attributes.ints("perm") && is_identity_permutation(*node.attributes.ints("perm"));
  if (op == "Slice")
    return !node.has_input(4) || all_of_constant(context, graph, node, 4, [](std::int64_t step) { return step == 1; });
  if (op == "Pad") return all_of_constant(context, graph, node, 1, [](std::int64_t pad) { return pad == 0; });
  if (op == "Concat") return node.inputs.size() == 1;
  return op == "Reshape" || op == "Expand" || op == "Tile" || op == "Flatten" || op == "Squeeze" || op == "Unsqueeze";
}

}  // namespace

bool remove_no_op_movement(PassContext& context, Graph& graph) {
  graph::GraphEdit edit(graph);
  for (graph::NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!changes_nothing(context, graph, node)) continue;
    edit.replace_uses(node.outputs[0], node.inputs[0]);
    edit.remove(id);
  }
  return edit.commit();
}

}  // namespace sardonyx::optimizer
