#include <cmath>

#include "optimizer/fusion.h"

namespace sardonyx::optimizer {
namespace {

using graph::Node;
using graph::ValueId;

/// The x of x / √2 or x · (1/√2); kNoValue when the node is neither.
ValueId scaled_by_root_half(const FusionContext& context, const Node& node) {
  if (node.is("Div") && context.is_scalar(node.inputs[1], std::sqrt(2.0))) return node.inputs[0];
  return context.multiplied_by(node, std::sqrt(0.5));
}

/// The constant operand is the other one: the value of node · ½ or ½ · node.
bool multiplies_by_half(const FusionContext& context, const Node& node, ValueId value) {
  return node.is("Mul") && node.inputs[0] != node.inputs[1] &&
         context.is_scalar(FusionContext::other(node, value), 0.5);
}

/// x · (1 + f) · ½, factors in any order, where `add` is 1 + f: the rest of the match, of whose nodes the first ones
/// are known.
std::optional<FusionMatch> match_rest(const FusionContext& context, FusionMatch match, ValueId x, const Node& add) {
  const Node* product = context.only_reader(add.outputs[0]);
  if (!product || !product->is("Mul")) return std::nullopt;
  const ValueId factor = FusionContext::other(*product, add.outputs[0]);
  match.nodes.insert(match.nodes.end(), {add.id, product->id});
  match.fused.op_type = "Gelu";
  match.fused.inputs = {x};
  if (multiplies_by_half(context, *product, add.outputs[0])) {
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

/// The node that makes 1 + value, when it is the value's only reader.
const Node* one_more(const FusionContext& context, ValueId value) {
  const Node* add = context.only_reader(value);
  const bool fits = add && add->is("Add") && context.is_scalar(FusionContext::other(*add, value), 1.0);
  return fits ? add : nullptr;
}

/// The node that makes the value, where nobody else reads it.
const Node* only_source(const FusionContext& context, ValueId value) {
  return value != graph::kNoValue && context.only_reader(value) ? context.graph().producer(value) : nullptr;
}

/// Appends the nodes that make x³ of x: Pow(x, 3), or (x · x) · x in either order.
bool match_cube(const FusionContext& context, const Node* cube, ValueId x, std::vector<graph::NodeId>& nodes) {
  if (!cube) return false;
  nodes.push_back(cube->id);
  if (cube->is("Pow")) return cube->inputs[0] == x && context.is_scalar(cube->inputs[1], 3.0);
  if (!cube->is("Mul") || (cube->inputs[0] != x && cube->inputs[1] != x)) return false;
  const Node* square = only_source(context, FusionContext::other(*cube, x));
  if (!square || !square->is("Mul") || square->inputs[0] != x || square->inputs[1] != x) return false;
  nodes.push_back(square->id);
  return true;
}

}  // namespace

// Anchored at Erf. Three spellings: ((erf + 1) · x) · ½, (x · ½) · (erf + 1) and x · ((erf + 1) · ½), factors in any
// order.
std::optional<FusionMatch> match_gelu(const FusionContext& context, const Node& erf) {
  if (!erf.is("Erf")) return std::nullopt;
  const Node* scaled = only_source(context, erf.inputs[0]);
  if (!scaled) return std::nullopt;
  const ValueId x = scaled_by_root_half(context, *scaled);
  const Node* add = one_more(context, erf.outputs[0]);
  if (x == graph::kNoValue || !add) return std::nullopt;
  FusionMatch match;
  match.nodes = {scaled->id, erf.id};
  return match_rest(context, std::move(match), x, *add);
}

// Anchored at Tanh, of √(2/π) · (x + 0.044715 · x³); the rest as with Erf.
std::optional<FusionMatch> match_tanh_gelu(const FusionContext& context, const Node& tanh) {
  if (!tanh.is("Tanh")) return std::nullopt;
  const Node* scaled = only_source(context, tanh.inputs[0]);
  if (!scaled) return std::nullopt;
  const Node* sum = only_source(context, context.multiplied_by(*scaled, std::sqrt(2.0 / 3.14159265358979323846)));
  if (!sum || !sum->is("Add")) return std::nullopt;
  for (const std::size_t side : {1, 0}) {
    const Node* cubic = only_source(context, sum->inputs[side]);
    if (!cubic) continue;
    const Node* cube = only_source(context, context.multiplied_by(*cubic, 0.044715));
    const ValueId x = sum->inputs[1 - side];
    FusionMatch match;
    match.nodes = {tanh.id, scaled->id, sum->id};
    if (!cube || !match_cube(context, cube, x, match.nodes)) continue;
    match.nodes.push_back(cubic->id);
    match.fused.attributes.set("approximate", std::string("tanh"));
    const Node* add = one_more(context, tanh.outputs[0]);
    return add ? match_rest(context, std::move(match), x, *add) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace sardonyx::optimizer
