#include "optimizer/passes/passes.h"

namespace sardonyx::optimizer {
namespace {

using graph::Dim;
using graph::Graph;
using graph::Node;
using graph::ValueType;

/// The shape input that gives `out` from `in`: a number where the dimension is known, 0 where it is the input's dimension at
/// that place, and -1 for at most one other. Empty where that can't say it.
std::vector<std::int64_t> constant_shape(const ValueType& in, const ValueType& out) {
  std::vector<std::int64_t> shape;
  bool inferred = false, copies = false;
  for (std::size_t i = 0; i < out.rank(); ++i) {
    const Dim& dim = out.dims[i];
    if (dim.is_constant()) {
      if (dim.constant() == 0) return {};  // 0 would mean "copy"
      shape.push_back(dim.constant());
    } else if (i < in.rank() && in.dims[i] == dim) {
      shape.push_back(0);
      copies = true;
    } else if (!inferred) {
      shape.push_back(-1);
      inferred = true;
    } else {
      return {};
    }
  }
  // A copied dimension may be 0 at run time, and then -1 would be undecided.
  if (inferred && copies) return {};
  return shape;
}

}  // namespace

bool simplify_shape_arithmetic(PassContext& context, Graph& graph) {
  bool changed = false;
  for (graph::NodeId id : graph.order()) {
    Node& node = graph.node(id);
    if (!node.is("Reshape") || !node.has_input(1) || context.model.constant_of(graph, node.inputs[1])) continue;
    const ValueType &in = graph.value(node.inputs[0]).type, &out = graph.value(node.outputs[0]).type;
    if (!in.has_rank || !out.has_rank || out.rank() == 0) continue;
    const std::vector<std::int64_t> shape = constant_shape(in, out);
    if (shape.empty()) continue;
    const Tensor tensor = Tensor::from<std::int64_t>({static_cast<std::int64_t>(shape.size())}, shape);
    node.inputs[1] = context.model.add_constant_value(graph, node.name + "/shape", tensor);
    node.attributes.erase("allowzero");
    changed = true;
  }
  if (changed) graph.remove_unused();
  return changed;
}

}  // namespace sardonyx::optimizer
