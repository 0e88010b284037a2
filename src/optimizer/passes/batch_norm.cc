#include <cmath>

#include "base/aligned_tensor.h"
#include "optimizer/passes/passes.h"

namespace sardonyx::optimizer {
namespace {

using graph::Graph;
using graph::kNoValue;
using graph::Node;

struct BatchNormConstants {
  std::span<const float> scale, bias, mean, variance;
  float epsilon = 1e-5F;
};

std::span<const float> channel_floats(const PassContext& context, const Graph& graph, graph::ValueId value,
                                      std::int64_t channels) {
  const Tensor* constant = context.model.constant_of(graph, value);
  if (!constant || constant->type() != ElementType::kFloat32 || constant->num_elements() != channels ||
      !is_aligned(constant->view()))
    return {};
  return constant->span<float>();
}

/// w'[m] = w[m] * scale / sqrt(variance + epsilon), computed in double and rounded once.
void scale_weights(const Tensor& weights, const BatchNormConstants& norm, Tensor& out) {
  const std::int64_t channels = weights.shape()[0];
  const std::int64_t per_channel = channels == 0 ? 0 : weights.num_elements() / channels;
  for (std::int64_t m = 0; m < channels; ++m) {
    const auto c = static_cast<std::size_t>(m);
    const double factor = norm.scale[c] / std::sqrt(static_cast<double>(norm.variance[c]) + norm.epsilon);
    for (std::int64_t i = m * per_channel; i < (m + 1) * per_channel; ++i) {
      out.mutable_data<float>()[i] = static_cast<float>(weights.data<float>()[i] * factor);
    }
  }
}

bool fold_into(PassContext& context, Graph& graph, const Node& norm, Node& conv) {
  const Tensor* weights = context.model.constant_of(graph, conv.inputs[1]);
  if (!weights || weights->type() != ElementType::kFloat32 || weights->shape().rank() < 3) return false;
  const std::int64_t channels = weights->shape()[0];
  std::span<const float> inputs[4];
  for (std::size_t i = 0; i < 4; ++i) {
    inputs[i] = channel_floats(context, graph, norm.input(i + 1), channels);
    if (inputs[i].empty()) return false;
  }
  const BatchNormConstants constants{inputs[0], inputs[1], inputs[2], inputs[3],
                                     norm.attributes.get_float("epsilon", 1e-5F)};
  std::span<const float> old_bias;
  if (conv.has_input(2)) {
    old_bias = channel_floats(context, graph, conv.inputs[2], channels);
    if (old_bias.empty()) return false;
  }
  Tensor new_weights(ElementType::kFloat32, weights->shape()), new_bias(ElementType::kFloat32, {channels});
  scale_weights(aligned(*weights), constants, new_weights);
  for (std::size_t c = 0; c < static_cast<std::size_t>(channels); ++c) {
    const double factor =
        constants.scale[c] / std::sqrt(static_cast<double>(constants.variance[c]) + constants.epsilon);
    const double before = old_bias.empty() ? 0.0 : old_bias[c];
    new_bias.mutable_data<float>()[c] = static_cast<float>((before - constants.mean[c]) * factor + constants.bias[c]);
  }
  conv.inputs.resize(3, kNoValue);
  conv.inputs[1] = context.model.add_constant_value(graph, conv.name + "/weights/folded", std::move(new_weights));
  conv.inputs[2] = context.model.add_constant_value(graph, conv.name + "/bias/folded", std::move(new_bias));
  return true;
}

}  // namespace

bool fold_batch_norm(PassContext& context, Graph& graph) {
  const auto uses = graph.uses();
  graph::GraphEdit edit(graph);
  for (graph::NodeId id : graph.order()) {
    const Node& norm = graph.node(id);
    if (!norm.is("BatchNormalization") || norm.attributes.get_int("training_mode", 0) != 0) continue;
    const Node* conv = graph.producer(norm.inputs[0]);
    if (!conv || !conv->is("Conv") || uses[static_cast<std::size_t>(norm.inputs[0])].size() != 1) continue;
    if (!fold_into(context, graph, norm, graph.node(conv->id))) continue;
    edit.replace_uses(norm.outputs[0], conv->outputs[0]);
    edit.remove(id);
  }
  return edit.commit();
}

}  // namespace sardonyx::optimizer
