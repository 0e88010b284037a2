#include <cmath>

#include "optimizer/fusion.h"

namespace sardonyx::optimizer {
namespace {

using graph::Node;
using graph::ValueId;

/// The x of x / √2 or x · (1/√2); kNoValue when the node is neither.
ValueId scaled_by_root_half(const FusionContext& context, const Node& node) {
  if (node.is("Div") && context.is_scalar(node.inputs[1], std::sqrt(2.0))) return node.inputs[0];
  if (!node.is("Mul")) return graph::kNoValue;
  if (context.is_scalar(node.inputs[1], std::sqrt(0.5))) return node.inputs[0];
  if (context.is_scalar(node.inputs[0], std::sqrt(0.5))) return node.inputs[1];
  return graph::kNoValue;
}

/// The constant operand is the other one: the value of node · ½ or ½ · node.
bool multiplies_by_half(const FusionContext& context, const Node& node, ValueId value) {
  return node.is("Mul") && node.inputs[0] != node.inputs[1] &&
         context.is_scalar(FusionContext::other(node, value), 0.5);
}

}  // namespace

// Anchored at Erf. Three spellings: ((erf + 1) · x) · ½, (x · ½) · (erf + 1) and x · ((erf + 1) · ½), factors in any
// order.
std::optional<FusionMatch> match_gelu(const FusionContext& context, const Node& erf) {
  if (!erf.is("Erf")) return std::nullopt;
  const Node* scaled = context.graph().producer(erf.inputs[0]);
  if (!scaled || !context.only_reader(erf.inputs[0])) return std::nullopt;
  const ValueId x = scaled_by_root_half(context, *scaled);
  const Node* add = context.only_reader(erf.outputs[0]);
  if (x == graph::kNoValue || !add || !add->is("Add") ||
      !context.is_scalar(FusionContext::other(*add, erf.outputs[0]), 1.0))
    return std::nullopt;
  const Node* product = context.only_reader(add->outputs[0]);
  if (!product || !product->is("Mul")) return std::nullopt;
  const ValueId factor = FusionContext::other(*product, add->outputs[0]);

  FusionMatch match;
  match.nodes = {scaled->id, erf.id, add->id, product->id};
  match.fused.op_type = "Gelu";
  match.fused.inputs = {x};
  if (multiplies_by_half(context, *product, add->outputs[0])) {
    const Node* last = context.only_reader(product->outputs[0]);
    if (!last || !last->is("Mul") || FusionContext::other(*last, product->outputs[0]) != x) return std::nullopt;
    match.nodes.push_back(last->id);
    match.fused.outputs = last->outputs;
  } else if (factor == x) {
    const Node* half = context.only_reader(product->outputs[0]);
    if (!half || !multiplies_by_half(context, *half, product->outputs[0])) return std::nullopt;
    match.nodes.push_back(half->id);
    match.fused.outputs = half->outputs;
  } else {
    const Node* half = context.made_by(factor, "Mul");
    if (!half || !context.only_reader(factor)) return std::nullopt;
    if (half->inputs[0] != x && half->inputs[1] != x) return std::nullopt;
    if (!multiplies_by_half(context, *half, x)) return std::nullopt;
    match.nodes.push_back(half->id);
    match.fused.outputs = product->outputs;
  }
  // Constants of another rank would have broadcast x to another shape.
  if (!graph::same_type(context.type(x), context.type(match.fused.outputs[0]))) return std::nullopt;
  return match;
}

}  // namespace sardonyx::optimizer
