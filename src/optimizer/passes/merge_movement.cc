#include <numeric>

#include "optimizer/passes/passes.h"

namespace sardonyx::optimizer {
namespace {

using graph::Graph;
using graph::Node;

std::vector<std::int64_t> permutation(const Graph& graph, const Node& node) {
  if (const auto* perm = node.attributes.ints("perm")) return *perm;
  std::vector<std::int64_t> reversed(graph.value(node.inputs[0]).type.rank());
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  return reversed;
}

/// Transpose(Transpose(x)) is one Transpose.
bool merge_transposes(Graph& graph, Node& outer, const Node& inner) {
  if (!graph.value(inner.inputs[0]).type.has_rank) return false;
  const auto first = permutation(graph, inner), second = permutation(graph, outer);
  if (first.size() != second.size()) return false;
  std::vector<std::int64_t> both(first.size());
  for (std::size_t i = 0; i < both.size(); ++i) both[i] = first[static_cast<std::size_t>(second[i])];
  outer.inputs[0] = inner.inputs[0];
  outer.attributes.set("perm", std::move(both));
  return true;
}

/// Reshape(f(x)), where f only changes the shape, is Reshape(x), unless 0 copies a dimension of f's result.
bool merge_reshapes(const PassContext& context, const Graph& graph, Node& outer, const Node& inner) {
  const Tensor* shape = outer.has_input(1) ? context.model.constant_of(graph, outer.inputs[1]) : nullptr;
  if (!shape || shape->type() != ElementType::kInt64) return false;
  const bool allow_zero = outer.attributes.get_int("allowzero", 0) != 0;
  for (std::int64_t dim : shape->span<std::int64_t>()) {
    if (dim == 0 && !allow_zero) return false;
  }
  outer.inputs[0] = inner.inputs[0];
  return true;
}

bool only_changes_shape(const Node& node) {
  return node.is("Reshape") || node.is("Squeeze") || node.is("Unsqueeze") || node.is("Flatten");
}

}  // namespace

bool merge_movement(PassContext& context, Graph& graph) {
  bool changed = false;
  for (graph::NodeId id : graph.order()) {
    Node& outer = graph.node(id);
    if (!outer.is("Transpose") && !outer.is("Reshape")) continue;
    const Node* inner = graph.producer(outer.inputs[0]);
    if (!inner) continue;
    if (outer.is("Transpose") && inner->is("Transpose")) changed |= merge_transposes(graph, outer, *inner);
    if (outer.is("Reshape") && only_changes_shape(*inner)) changed |= merge_reshapes(context, graph, outer, *inner);
  }
  if (changed) graph.remove_unused();
  return changed;
}

}  // namespace sardonyx::optimizer
