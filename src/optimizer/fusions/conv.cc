#include <algorithm>

#include "optimizer/fusion.h"

namespace sardonyx::optimizer {
namespace {

using graph::Node;

/// A float constant of one element, or `fallback` where the input is left out; nullopt for anything else.
std::optional<float> scalar_or(const FusionContext& context, const Node& node, std::size_t input, float fallback) {
  if (!node.has_input(input)) return fallback;
  const Tensor* tensor = context.constant(node.inputs[input]);
  if (!tensor || tensor->type() != ElementType::kFloat32 || tensor->num_elements() != 1) return std::nullopt;
  return *tensor->data<float>();
}

bool describe_activation(const FusionContext& context, const Node& node, graph::Attributes& attributes) {
  constexpr float kHuge = 3.402823466e+38F;
  if (node.is("Relu") || node.is("HardSwish") || node.is("Sigmoid") || node.is("Tanh")) {
    attributes.set("activation", node.op_type);
    return true;
  }
  if (node.is("Swish") && node.attributes.get_float("alpha", 1.0F) == 1.0F) {
    attributes.set("activation", node.op_type);
    return true;
  }
  if (node.is("LeakyRelu")) {
    attributes.set("activation", node.op_type);
    attributes.set("activation_params", std::vector<float>{node.attributes.get_float("alpha", 0.01F)});
    return true;
  }
  if (node.is("HardSigmoid")) {
    attributes.set("activation", node.op_type);
    attributes.set("activation_params", std::vector<float>{node.attributes.get_float("alpha", 0.2F),
                                                           node.attributes.get_float("beta", 0.5F)});
    return true;
  }
  if (!node.is("Clip")) return false;
  const auto low = scalar_or(context, node, 1, -kHuge), high = scalar_or(context, node, 2, kHuge);
  if (!low || !high || *low > *high) return false;
  attributes.set("activation", std::string("Clip"));
  attributes.set("activation_params", std::vector<float>{*low, *high});
  return true;
}

}  // namespace

std::optional<FusionMatch> match_conv_activation(const FusionContext& context, const Node& conv) {
  if (!conv.is("Conv") || context.type(conv.inputs[0]).element != ElementType::kFloat32) return std::nullopt;
  FusionMatch match;
  match.fused.domain = "ai.sardonyx";
  match.fused.op_type = "FusedConv";
  match.fused.inputs = {conv.input(0), conv.input(1), conv.input(2)};
  match.fused.attributes = conv.attributes;
  match.fused.outputs = conv.outputs;
  match.nodes = {conv.id};
  const Node* next = context.only_reader(conv.outputs[0]);
  if (next && next->is("Add") && next->inputs[0] != next->inputs[1]) {
    const graph::ValueId residual = FusionContext::other(*next, conv.outputs[0]);
    if (!context.constant(residual) && graph::same_type(context.type(residual), context.type(conv.outputs[0]))) {
      match.fused.inputs.push_back(residual);
      match.fused.outputs = next->outputs;
      match.nodes.push_back(next->id);
      next = context.only_reader(next->outputs[0]);
    }
  }
  if (next && describe_activation(context, *next, match.fused.attributes)) {
    match.fused.outputs = next->outputs;
    match.nodes.push_back(next->id);
  }
  if (match.nodes.size() == 1) return std::nullopt;
  return match;
}

}  // namespace sardonyx::optimizer
