#include "optimizer/fusion.h"

namespace sardonyx::optimizer {
namespace {

using graph::kNoValue;
using graph::Node;
using graph::ValueId;
using graph::ValueType;

// Inputs of ai.sardonyx.FusedMatMul.
enum Input : std::size_t { kX, kWeights, kScale, kZeroPoint, kBias, kResidual, kInputCount };

bool is_float_matrix(const Tensor* tensor) {
  return tensor && tensor->type() == ElementType::kFloat32 && tensor->shape().rank() == 2;
}

/// Weights that are a constant matrix, or one dequantised per tensor or per column.
bool take_weights(const FusionContext& context, ValueId weights, FusionMatch& match) {
  auto& inputs = match.fused.inputs;
  if (is_float_matrix(context.constant(weights))) {
    inputs[kWeights] = weights;
    return true;
  }
  const Node* dequantize = context.made_by(weights, "DequantizeLinear");
  if (!dequantize || !context.only_reader(weights) || dequantize->attributes.get_int("block_size", 0) != 0)
    return false;
  const Tensor* stored = context.constant(dequantize->inputs[0]);
  const Tensor* scale = context.constant(dequantize->inputs[1]);
  if (!stored || stored->shape().rank() != 2 || !scale || scale->type() != ElementType::kFloat32) return false;
  if (stored->type() != ElementType::kInt8 && stored->type() != ElementType::kUInt8) return false;
  if (dequantize->has_input(2) && !context.constant(dequantize->inputs[2])) return false;
  const std::int64_t axis = dequantize->attributes.get_int("axis", 1);
  const bool per_column =
      scale->shape().rank() == 1 && (axis == 1 || axis == -1) && scale->num_elements() == stored->shape()[1];
  if (!per_column && scale->shape().rank() != 0) return false;
  inputs[kWeights] = dequantize->inputs[0];
  inputs[kScale] = dequantize->inputs[1];
  inputs[kZeroPoint] = dequantize->input(2);
  match.nodes.push_back(dequantize->id);
  return true;
}

/// A constant row of n floats: what a bias is.
bool is_bias(const FusionContext& context, ValueId value, std::int64_t n) {
  const Tensor* tensor = context.constant(value);
  if (!tensor || tensor->type() != ElementType::kFloat32 || tensor->num_elements() != n || tensor->shape().rank() == 0)
    return false;
  return tensor->shape()[tensor->shape().rank() - 1] == n;
}

/// The activation that a node is, as attribute `activation` names it; "" for none.
std::string activation_of(const Node& node) {
  if (node.is("Gelu")) return node.attributes.get_string("approximate", "none") == "none" ? "Gelu" : "GeluTanh";
  if (node.is("Relu") || node.is("Tanh") || node.is("Sigmoid")) return node.op_type;
  return "";
}

}  // namespace

// Anchored at MatMul, and extended forwards as long as each result has one reader: bias, then either an activation or a
// residual.
std::optional<FusionMatch> match_mat_mul(const FusionContext& context, const Node& product) {
  if (!product.is("MatMul") || context.type(product.inputs[0]).element != ElementType::kFloat32) return std::nullopt;
  const ValueType& x = context.type(product.inputs[0]);
  if (!x.has_rank || x.rank() < 2) return std::nullopt;
  FusionMatch match;
  match.fused.domain = "ai.sardonyx";
  match.fused.op_type = "FusedMatMul";
  match.fused.inputs.assign(kInputCount, kNoValue);
  match.fused.inputs[kX] = product.inputs[0];
  if (!take_weights(context, product.inputs[1], match)) return std::nullopt;
  match.nodes.push_back(product.id);
  match.fused.outputs = product.outputs;
  const std::int64_t n = context.constant(match.fused.inputs[kWeights])->shape()[1];
  const ValueType result = context.type(product.outputs[0]);

  const auto next = [&]() -> const Node* {
    const Node* reader = context.only_reader(match.fused.outputs[0]);
    // What follows must neither broadcast the product to a larger shape nor read it twice.
    if (!reader || reader->outputs.size() != 1 || !graph::same_type(context.type(reader->outputs[0]), result))
      return nullptr;
    return reader->inputs.size() == 2 && reader->inputs[0] == reader->inputs[1] ? nullptr : reader;
  };
  const auto take = [&](const Node& node) {
    match.nodes.push_back(node.id);
    match.fused.outputs = node.outputs;
  };
  const Node* add = next();
  if (add && add->is("Add") && is_bias(context, FusionContext::other(*add, match.fused.outputs[0]), n)) {
    match.fused.inputs[kBias] = FusionContext::other(*add, match.fused.outputs[0]);
    take(*add);
  }
  const Node* after = next();
  if (after && !activation_of(*after).empty()) {
    match.fused.attributes.set("activation", activation_of(*after));
    take(*after);
  } else if (after && after->is("Add")) {
    const ValueId residual = FusionContext::other(*after, match.fused.outputs[0]);
    if (!context.constant(residual) && graph::same_type(context.type(residual), result)) {
      match.fused.inputs[kResidual] = residual;
      take(*after);
    }
  }
  if (match.nodes.size() == 1) return std::nullopt;  // a bare product with plain weights is what it was
  while (match.fused.inputs.back() == kNoValue) match.fused.inputs.pop_back();
  return match;
}

}  // namespace sardonyx::optimizer
