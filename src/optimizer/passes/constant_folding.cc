#include <algorithm>
#include <utility>

#include "ops/op_list.h"
#include "optimizer/passes/passes.h"

namespace sardonyx::optimizer {
namespace {

using graph::kNoValue;

/// Where a node's result may be larger than what it reads, folding would trade computation for memory and file size.
constexpr std::int64_t kMayGrowTo = 1024;

/// Values that inference already knows need no kernel: they become constants as they are.
bool fold_known_values(PassContext& context, graph::Graph& graph, graph::GraphEdit& edit, const graph::Node& node) {
  bool changed = false;
  for (graph::ValueId output : node.outputs) {
    if (output == kNoValue) continue;
    const graph::ValueType type = graph.value(output).type;
    const bool foldable =
        type.is_tensor() && type.has_rank && type.values && type.element == ElementType::kInt64 &&
        std::all_of(type.values->begin(), type.values->end(), [](const graph::Dim& d) { return d.is_constant(); });
    if (!foldable || type.rank() > 1) continue;
    Shape shape;
    if (type.rank() == 1) shape.push_back(static_cast<std::int64_t>(type.values->size()));
    if (type.rank() == 0 && type.values->size() != 1) continue;
    Tensor tensor(ElementType::kInt64, shape);
    for (std::size_t i = 0; i < type.values->size(); ++i)
      tensor.mutable_data<std::int64_t>()[i] = (*type.values)[i].constant();
    const graph::ValueId constant =
        context.model.add_constant_value(graph, graph.value(output).name + "/folded", std::move(tensor));
    edit.replace_uses(output, constant);
    changed = true;
  }
  return changed;
}

bool fold(PassContext& context, graph::Graph& graph, graph::GraphEdit& edit, const graph::Node& node) {
  std::vector<Value> inputs;
  std::int64_t bytes = 0;
  for (graph::ValueId input : node.inputs) {
    if (input == kNoValue) {
      inputs.emplace_back();
      continue;
    }
    const Tensor* constant = context.model.constant_of(graph, edit.resolve(input));
    if (!constant) return false;
    bytes += static_cast<std::int64_t>(constant->num_bytes());
    inputs.emplace_back(*constant);
  }
  for (graph::ValueId output : node.outputs) {
    if (output == kNoValue) continue;
    const auto shape = graph.value(output).type.static_shape();
    if (!shape || graph.value(output).type.element == ElementType::kUndefined) return false;
    const auto size = static_cast<std::int64_t>(byte_size(graph.value(output).type.element, shape->num_elements()));
    if (size > std::max(bytes, kMayGrowTo)) return false;
  }
  const auto results = context.evaluate(node, inputs);
  if (!results) return false;
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoValue || !(*results)[i].is_tensor()) continue;
    const graph::ValueId constant =
        context.model.add_constant_value(graph, graph.value(node.outputs[i]).name + "/folded", (*results)[i].tensor());
    edit.replace_uses(node.outputs[i], constant);
  }
  return true;
}

}  // namespace

bool fold_constants(PassContext& context, graph::Graph& graph) {
  bool changed = false;
  graph::GraphEdit edit(graph);
  for (graph::NodeId id : graph.order()) {
    const graph::Node& node = graph.node(id);
    const ops::OpDef* op = ops::find_op(node.domain, node.op_type);
    if (!op || op->traits.control_flow || op->traits.nondeterministic) continue;
    const bool used =
        std::any_of(node.outputs.begin(), node.outputs.end(), [&](graph::ValueId v) { return v != kNoValue; });
    if (used && (fold_known_values(context, graph, edit, node) || fold(context, graph, edit, node))) changed = true;
  }
  edit.commit();
  if (changed) graph.remove_unused();
  return changed;
}

}  // namespace sardonyx::optimizer
