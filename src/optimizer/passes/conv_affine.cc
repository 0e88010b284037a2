#include <cmath>
#include <vector>

#include "base/aligned_tensor.h"
#include "optimizer/passes/passes.h"

namespace sardonyx::optimizer {
namespace {

using graph::Graph;
using graph::kNoValue;
using graph::Node;

/// y[c] = factor[c] * x[c] + shift[c] for each channel c.
struct ChannelAffine {
  std::vector<double> factor, shift;

  explicit ChannelAffine(std::size_t channels) : factor(channels, 1.0), shift(channels, 0.0) {}
};

/// Empty where the value is no float constant of so many elements.
std::span<const float> constant_floats(const PassContext& context, const Graph& graph, graph::ValueId value,
                                       std::int64_t count) {
  const Tensor* constant = context.model.constant_of(graph, value);
  if (!constant || constant->type() != ElementType::kFloat32 || constant->num_elements() != count ||
      !is_aligned(constant->view()))
    return {};
  return constant->span<float>();
}

std::optional<ChannelAffine> batch_norm_affine(const PassContext& context, const Graph& graph, const Node& norm,
                                               std::int64_t channels) {
  std::span<const float> inputs[4];
  for (std::size_t i = 0; i < 4; ++i) {
    inputs[i] = constant_floats(context, graph, norm.input(i + 1), channels);
    if (inputs[i].empty()) return std::nullopt;
  }
  const auto [scale, bias, mean, variance] = inputs;
  const float epsilon = norm.attributes.get_float("epsilon", 1e-5F);
  ChannelAffine affine(static_cast<std::size_t>(channels));
  for (std::size_t c = 0; c < affine.factor.size(); ++c) {
    affine.factor[c] = scale[c] / std::sqrt(static_cast<double>(variance[c]) + epsilon);
    affine.shift[c] = bias[c] - mean[c] * affine.factor[c];
  }
  return affine;
}

/// Whether a tensor of this shape has one value per channel of, or one for all of, a tensor of `rank` axes whose second
/// is the channels.
bool is_per_channel(const Shape& shape, std::size_t rank, std::int64_t channels) {
  if (shape.rank() > rank) return false;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    const bool is_channel_axis = i + rank == shape.rank() + 1;
    if (shape[i] != 1 && !(is_channel_axis && shape[i] == channels)) return false;
  }
  return true;
}

/// Of a Mul or an Add of `value` and a constant.
std::optional<ChannelAffine> operand_affine(const PassContext& context, const Graph& graph, const Node& node,
                                            graph::ValueId value, std::int64_t channels) {
  if (node.inputs[0] == node.inputs[1]) return std::nullopt;
  const graph::ValueId other = node.inputs[0] == value ? node.inputs[1] : node.inputs[0];
  const Tensor* constant = context.model.constant_of(graph, other);
  const auto& type = graph.value(value).type;
  if (!constant || !type.has_rank || !is_per_channel(constant->shape(), type.dims.size(), channels))
    return std::nullopt;
  const std::span<const float> values = constant_floats(context, graph, other, constant->num_elements());
  if (values.empty()) return std::nullopt;
  ChannelAffine affine(static_cast<std::size_t>(channels));
  std::vector<double>& target = node.is("Mul") ? affine.factor : affine.shift;
  for (std::size_t c = 0; c < target.size(); ++c) target[c] = values[values.size() == 1 ? 0 : c];
  return affine;
}

std::optional<ChannelAffine> affine_of(const PassContext& context, const Graph& graph, const Node& node,
                                       graph::ValueId value, std::int64_t channels) {
  if (node.is("Mul") || node.is("Add")) return operand_affine(context, graph, node, value, channels);
  return batch_norm_affine(context, graph, node, channels);
}

/// Output channels are the first axis of a convolution's weights, and the second of a transposed one's.
bool is_transposed(const Node& conv) { return conv.is("ConvTranspose"); }

bool takes_affine(const Node& conv) {
  return conv.is("Conv") || (is_transposed(conv) && conv.attributes.get_int("group", 1) == 1);
}

/// The weights take the factors and the bias both, computed in double and rounded once.
bool fold_into(PassContext& context, Graph& graph, const Node& node, Node& conv) {
  const Tensor* weights = context.model.constant_of(graph, conv.inputs[1]);
  if (!weights || weights->type() != ElementType::kFloat32 || weights->shape().rank() < 3) return false;
  const std::int64_t channels = weights->shape()[is_transposed(conv) ? 1 : 0];
  std::span<const float> old_bias;
  if (conv.has_input(2)) {
    old_bias = constant_floats(context, graph, conv.inputs[2], channels);
    if (old_bias.empty()) return false;
  }
  const auto affine = affine_of(context, graph, node, conv.outputs[0], channels);
  if (!affine) return false;
  const Tensor plain = aligned(*weights);
  Tensor new_weights(ElementType::kFloat32, weights->shape()), new_bias(ElementType::kFloat32, {channels});
  // Weights of one output channel lie in runs, which repeat for every input channel where it is transposed.
  const auto count = static_cast<std::size_t>(weights->num_elements());
  const std::size_t blocks = is_transposed(conv) ? static_cast<std::size_t>(weights->shape()[0]) : 1;
  const std::size_t run = count == 0 ? 1 : count / blocks / affine->factor.size();
  for (std::size_t i = 0; i < count; ++i) {
    const double factor = affine->factor[i / run % affine->factor.size()];
    new_weights.mutable_data<float>()[i] = static_cast<float>(plain.data<float>()[i] * factor);
  }
  for (std::size_t c = 0; c < affine->factor.size(); ++c) {
    const double before = old_bias.empty() ? 0.0 : old_bias[c];
    new_bias.mutable_data<float>()[c] = static_cast<float>(before * affine->factor[c] + affine->shift[c]);
  }
  conv.inputs.resize(3, kNoValue);
  conv.inputs[1] = context.model.add_constant_value(graph, conv.name + "/weights/folded", std::move(new_weights));
  conv.inputs[2] = context.model.add_constant_value(graph, conv.name + "/bias/folded", std::move(new_bias));
  return true;
}

/// Folds the nodes that `wanted` holds for into the convolutions whose only readers they are.
template <typename Wanted>
bool fold(PassContext& context, Graph& graph, Wanted&& wanted) {
  const auto uses = graph.uses();
  graph::GraphEdit edit(graph);
  for (graph::NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!wanted(node)) continue;
    for (const graph::ValueId value : node.inputs) {
      const Node* conv = value == kNoValue ? nullptr : graph.producer(value);
      if (!conv || !takes_affine(*conv) || uses[static_cast<std::size_t>(value)].size() != 1) continue;
      if (!fold_into(context, graph, node, graph.node(conv->id))) continue;
      edit.replace_uses(node.outputs[0], value);
      edit.remove(id);
      break;
    }
  }
  return edit.commit();
}

}  // namespace

bool fold_batch_norm(PassContext& context, Graph& graph) {
  return fold(context, graph, [](const Node& node) {
    return node.is("BatchNormalization") && node.attributes.get_int("training_mode", 0) == 0;
  });
}

bool fold_conv_affine(PassContext& context, Graph& graph) {
  return fold(context, graph, [](const Node& node) { return node.is("Mul") || node.is("Add"); });
}

}  // namespace sardonyx::optimizer
