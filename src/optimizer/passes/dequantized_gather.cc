#include "optimizer/passes/passes.h"

namespace sardonyx::optimizer {
namespace {

using graph::Graph;
using graph::Node;
using graph::ValueId;

/// Whether a gather along axis 0 reads rows of a constant integer matrix that has one scale a row (or one in all).
bool matches(const PassContext& context, const Graph& graph, const Node& gather, const Node*& dequantize) {
  if (!gather.is("Gather") || gather.attributes.get_int("axis", 0) != 0) return false;
  dequantize = graph.producer(gather.inputs[0]);
  if (!dequantize || !dequantize->is("DequantizeLinear") || dequantize->attributes.get_int("block_size", 0) != 0)
    return false;
  const Tensor* table = context.model.constant_of(graph, dequantize->inputs[0]);
  const Tensor* scale = context.model.constant_of(graph, dequantize->inputs[1]);
  if (!table || table->shape().rank() != 2 || !scale || scale->type() != ElementType::kFloat32) return false;
  if (table->type() != ElementType::kInt8 && table->type() != ElementType::kUInt8) return false;
  if (scale->shape().rank() == 0) return true;
  const std::int64_t axis = dequantize->attributes.get_int("axis", 1);
  return scale->shape().rank() == 1 && (axis == 0 || axis == -2) && scale->num_elements() == table->shape()[0];
}

}  // namespace

/// Gather(DequantizeLinear(table), rows) reads the whole table for a few rows. (Gather(table, rows) - zero points) *
/// scales, each gathered, is the same to the bit: integers below 2^24 are exact in float.
bool gather_before_dequantizing(PassContext& context, Graph& graph) {
  graph::GraphEdit edit(graph);
  for (graph::NodeId id : graph.order()) {
    const Node& gather = graph.node(id);
    const Node* dequantize = nullptr;
    if (!matches(context, graph, gather, dequantize)) continue;
    const ValueId rows = gather.inputs[1], scale = dequantize->inputs[1], zero_point = dequantize->input(2);
    const bool per_row = graph.value(scale).type.rank() == 1;
    graph::Attributes to_float;
    to_float.set("to", static_cast<std::int64_t>(ElementType::kFloat32));
    ValueId last_axis = graph::kNoValue;
    if (per_row) {
      const std::int64_t axes[] = {-1};
      last_axis = context.model.add_constant_value(graph, gather.name + "/axes", Tensor::from<std::int64_t>({1}, axes));
    }
    const auto per_gathered_row = [&](ValueId values) {
      return per_row ? edit.add_before(id, "Unsqueeze", {edit.add_before(id, "Gather", {values, rows}), last_axis})
                     : values;
    };
    ValueId value =
        edit.add_before(id, "Cast", {edit.add_before(id, "Gather", {dequantize->inputs[0], rows})}, to_float);
    if (zero_point != graph::kNoValue) {
      value =
          edit.add_before(id, "Sub", {value, edit.add_before(id, "Cast", {per_gathered_row(zero_point)}, to_float)});
    }
    value = edit.add_before(id, "Mul", {value, per_gathered_row(scale)});
    edit.replace_uses(gather.outputs[0], value);
    edit.remove(id);
  }
  const bool changed = edit.commit();
  if (changed) graph.remove_unused();
  return changed;
}

}  // namespace sardonyx::optimizer
