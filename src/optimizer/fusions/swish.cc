#include <cmath>
#include <string_view>

#include "optimizer/fusion.h"

namespace sardonyx::optimizer {
namespace {

using graph::Node;
using graph::ValueId;

/// The value that the node divides by six; kNoValue when it does not.
ValueId divided_by_six(const FusionContext& context, const Node& node) {
  if (node.is("Div") && context.is_scalar(node.inputs[1], 6.0)) return node.inputs[0];
  return context.multiplied_by(node, 1.0 / 6.0);
}

bool multiplies(const Node& node, ValueId a, ValueId b) {
  return node.is("Mul") &&
         ((node.inputs[0] == a && node.inputs[1] == b) || (node.inputs[0] == b && node.inputs[1] == a));
}

bool close_to(double value, double expected) { return std::abs(value - expected) <= 1e-4 * expected; }

std::optional<FusionMatch> finished(const FusionContext& context, FusionMatch match, std::string_view op, ValueId x,
                                    const Node& last) {
  match.fused.op_type = op;
  match.fused.inputs = {x};
  match.fused.outputs = last.outputs;
  // Constants of another rank would have broadcast x to another shape.
  if (!graph::same_type(context.type(x), context.type(last.outputs[0]))) return std::nullopt;
  return match;
}

/// Clip(x + 3, 0, 6), times x and divided by six in either order.
std::optional<FusionMatch> match_clip(const FusionContext& context, const Node& clip) {
  if (!clip.has_input(1) || !clip.has_input(2) || !context.is_scalar(clip.inputs[1], 0.0) ||
      !context.is_scalar(clip.inputs[2], 6.0))
    return std::nullopt;
  const Node* add = context.made_by(clip.inputs[0], "Add");
  if (!add || !context.only_reader(clip.inputs[0])) return std::nullopt;
  const bool is_second = context.is_scalar(add->inputs[0], 3.0);
  if (!is_second && !context.is_scalar(add->inputs[1], 3.0)) return std::nullopt;
  const ValueId x = add->inputs[is_second ? 1 : 0], clipped = clip.outputs[0];
  const Node* next = context.only_reader(clipped);
  const Node* last = next ? context.only_reader(next->outputs[0]) : nullptr;
  if (!last) return std::nullopt;
  const bool product_first = multiplies(*next, clipped, x) && divided_by_six(context, *last) == next->outputs[0];
  const bool quotient_first = divided_by_six(context, *next) == clipped && multiplies(*last, next->outputs[0], x);
  if (!product_first && !quotient_first) return std::nullopt;
  FusionMatch match;
  match.nodes = {add->id, clip.id, next->id, last->id};
  return finished(context, std::move(match), "HardSwish", x, *last);
}

/// x times sigmoid(x).
std::optional<FusionMatch> match_product(const FusionContext& context, const Node& sigmoid, std::string_view op) {
  const ValueId x = sigmoid.inputs[0];
  const Node* product = context.only_reader(sigmoid.outputs[0]);
  if (!product || !multiplies(*product, sigmoid.outputs[0], x)) return std::nullopt;
  FusionMatch match;
  match.nodes = {sigmoid.id, product->id};
  return finished(context, std::move(match), op, x, *product);
}

}  // namespace

std::optional<FusionMatch> match_hard_swish(const FusionContext& context, const Node& anchor) {
  if (anchor.is("Clip")) return match_clip(context, anchor);
  if (!anchor.is("HardSigmoid")) return std::nullopt;
  const double slope = anchor.attributes.get_float("alpha", 0.2F), offset = anchor.attributes.get_float("beta", 0.5F);
  return close_to(slope, 1.0 / 6.0) && close_to(offset, 0.5) ? match_product(context, anchor, "HardSwish")
                                                             : std::nullopt;
}

std::optional<FusionMatch> match_swish(const FusionContext& context, const Node& anchor) {
  return anchor.is("Sigmoid") ? match_product(context, anchor, "Swish") : std::nullopt;
}

}  // namespace sardonyx::optimizer
