#include "optimizer/passes/passes.h"

namespace sardonyx::optimizer {
namespace {

using graph::Graph;
using graph::kNoValue;
using graph::Node;

/// Lets everybody who reads output 0 of such a node read input 0, and takes the node out.
template <typename Matches>
bool bypass_all(Graph& graph, const Matches& matches) {
  graph::GraphEdit edit(graph);
  for (graph::NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!matches(node)) continue;
    edit.replace_uses(node.outputs[0], node.inputs[0]);
    edit.remove(id);
  }
  return edit.commit();
}

}  // namespace

bool remove_identities(PassContext&, Graph& graph) {
  return bypass_all(graph, [](const Node& node) { return node.is("Identity") && node.has_input(0); });
}

bool remove_dropout(PassContext& context, Graph& graph) {
  const auto uses = graph.uses();
  return bypass_all(graph, [&](const Node& node) {
    if (!node.is("Dropout")) return false;
    const bool mask_read = node.outputs.size() > 1 && node.outputs[1] != kNoValue &&
                           !uses[static_cast<std::size_t>(node.outputs[1])].empty();
    if (mask_read) return false;
    if (!node.has_input(2)) return true;
    const Tensor* training = context.model.constant_of(graph, node.inputs[2]);
    return training && training->num_elements() == 1 && !*training->data<bool>();
  });
}

bool remove_no_op_casts(PassContext&, Graph& graph) {
  return bypass_all(graph, [&](const Node& node) {
    if (!node.is("Cast")) return false;
    const ElementType from = graph.value(node.inputs[0]).type.element;
    return from != ElementType::kUndefined && node.attributes.get_int("to", 0) == static_cast<std::int64_t>(from);
  });
}

}  // namespace sardonyx::optimizer
