#include <algorithm>
#include <vector>

#include "base/aligned_tensor.h"
#include "optimizer/passes/passes.h"

namespace sardonyx::optimizer {
namespace {

using graph::Graph;
using graph::Node;
using graph::ValueId;

/// The integer matrix that the value is a float Cast of, where it is a constant; null otherwise.
const Tensor* cast_matrix(const PassContext& context, const Graph& graph, ValueId value, ValueId& matrix) {
  const Node* cast = graph.producer(value);
  if (!cast || !cast->is("Cast")) return nullptr;
  if (cast->attributes.get_int("to", 0) != static_cast<std::int64_t>(ElementType::kFloat32)) return nullptr;
  matrix = cast->inputs[0];
  const Tensor* constant = context.model.constant_of(graph, matrix);
  if (!constant || constant->shape().rank() != 2) return nullptr;
  return constant->type() == ElementType::kInt8 || constant->type() == ElementType::kUInt8 ? constant : nullptr;
}

/// The axis along which the scale changes: it has one value for each row or for each column of the matrix. nullopt for
/// any other shape.
std::optional<std::int64_t> scale_axis(const Shape& scale, const Shape& matrix) {
  if (scale.rank() == 2 && scale[0] == matrix[0] && scale[1] == 1) return 0;
  if (scale.rank() == 2 && scale[0] == 1 && scale[1] == matrix[1]) return 1;
  if (scale.rank() == 1 && scale[0] == matrix[1]) return 1;
  return std::nullopt;
}

}  // namespace

/// Mul(Cast(weights), scale) is DequantizeLinear(weights, scale) to the bit, which products and gathers take in without
/// making floats of the whole matrix.
bool cast_to_dequantize(PassContext& context, Graph& graph) {
  graph::GraphEdit edit(graph);
  for (graph::NodeId id : graph.order()) {
    const Node& product = graph.node(id);
    if (!product.is("Mul")) continue;
    for (const std::size_t side : {0, 1}) {
      ValueId matrix = graph::kNoValue;
      const Tensor* weights = cast_matrix(context, graph, product.inputs[side], matrix);
      const Tensor* scale = context.model.constant_of(graph, product.inputs[1 - side]);
      if (!weights || !scale || scale->type() != ElementType::kFloat32) continue;
      const auto axis = scale_axis(scale->shape(), weights->shape());
      if (!axis) continue;
      Tensor flat(ElementType::kFloat32, {scale->num_elements()});
      std::copy_n(aligned(*scale).data<float>(), scale->num_elements(), flat.mutable_data<float>());
      graph::Attributes attributes;
      attributes.set("axis", *axis);
      const ValueId scales = context.model.add_constant_value(graph, product.name + "/scale", std::move(flat));
      edit.replace_uses(product.outputs[0], edit.add_before(id, "DequantizeLinear", {matrix, scales}, attributes));
      edit.remove(id);
      break;
    }
  }
  const bool changed = edit.commit();
  if (changed) graph.remove_unused();
  return changed;
}

}  // namespace sardonyx::optimizer
