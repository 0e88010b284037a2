#include "optimizer/fusion.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "graph/graph_edit.h"
#include "ops/infer.h"

namespace sardonyx::optimizer {
namespace {

using graph::Graph;
using graph::Node;

/// The fused node as providers will see it.
bool accepts(graph::Model& model, Graph& graph, const FusionMatch& match, const AcceptFusion& accept) {
  const ops::DescribedNode described(model, graph, match.fused);
  return accept(described.desc(), match.nodes, graph);
}

/// `position`: where each node stands in the graph's order.
void replace(Graph& graph, graph::GraphEdit& edit, const std::vector<std::size_t>& position, FusionMatch match) {
  std::vector<std::string> from;
  for (graph::NodeId id : match.nodes) {
    const Node& node = graph.node(id);
    from.push_back(node.op_type + (node.name.empty() ? "" : " '" + node.name + "'"));
  }
  // The last of them in the graph's order is where all inputs are known.
  const graph::NodeId last =
      *std::max_element(match.nodes.begin(), match.nodes.end(), [&](graph::NodeId a, graph::NodeId b) {
        return position[static_cast<std::size_t>(a)] < position[static_cast<std::size_t>(b)];
      });
  match.fused.attributes.set("_fused_from", std::move(from));
  match.fused.name = graph.node(last).name;
  edit.insert_before(last, std::move(match.fused));
  for (graph::NodeId id : match.nodes) edit.remove(id);
}

/// Every place where the pattern fits now; those that overlap wait for the next call.
bool fuse_one(graph::Model& model, Graph& graph, const Fusion& fusion, const AcceptFusion& accept) {
  const FusionContext context(model, graph);
  graph::GraphEdit edit(graph);
  std::vector<std::size_t> position(graph.node_capacity());
  for (std::size_t i = 0; i < graph.order().size(); ++i) position[static_cast<std::size_t>(graph.order()[i])] = i;
  for (graph::NodeId id : graph.order()) {
    std::optional<FusionMatch> match = fusion.match(context, graph.node(id));
    if (!match || !accepts(model, graph, *match, accept)) continue;
    const bool overlaps =
        std::any_of(match->nodes.begin(), match->nodes.end(), [&](graph::NodeId one) { return edit.is_removed(one); });
    if (!overlaps) replace(graph, edit, position, std::move(*match));
  }
  return edit.commit();
}

bool fuse_graph(graph::Model& model, Graph& graph, std::span<const std::string> disabled, const AcceptFusion& accept) {
  bool changed = false;
  const std::vector<graph::NodeId> order = graph.order();
  for (graph::NodeId id : order) {
    graph::for_each_subgraph(graph.node(id),
                             [&](Graph& body) { changed |= fuse_graph(model, body, disabled, accept); });
  }
  for (const Fusion& fusion : fusions()) {
    if (std::find(disabled.begin(), disabled.end(), fusion.name) != disabled.end()) continue;
    while (fuse_one(model, graph, fusion, accept)) changed = true;
  }
  if (changed) graph.remove_unused();
  return changed;
}

}  // namespace

const Node* FusionContext::made_by(graph::ValueId value, std::string_view op) const {
  const Node* node = graph_.producer(value);
  return node && node->is(op) ? node : nullptr;
}

graph::ValueId FusionContext::multiplied_by(const Node& node, double constant) const {
  if (!node.is("Mul")) return graph::kNoValue;
  if (is_scalar(node.inputs[1], constant)) return node.inputs[0];
  return is_scalar(node.inputs[0], constant) ? node.inputs[1] : graph::kNoValue;
}

const Node* FusionContext::only_reader(graph::ValueId value) const {
  if (static_cast<std::size_t>(value) >= uses_.size()) return nullptr;
  const auto& readers = uses_[static_cast<std::size_t>(value)];
  return readers.size() == 1 && readers[0].node != graph::kNoNode ? &graph_.node(readers[0].node) : nullptr;
}

bool FusionContext::is_scalar(graph::ValueId value, double expected) const {
  const Tensor* tensor = value == graph::kNoValue ? nullptr : constant(value);
  if (!tensor || tensor->type() != ElementType::kFloat32 || tensor->num_elements() != 1) return false;
  return std::abs(*tensor->data<float>() - expected) <= 1e-4 * std::abs(expected);
}

std::span<const Fusion> fusions() {
  static constexpr Fusion kFusions[] = {
      {"attention-fusion", "q·kᵀ → scale → mask → Softmax → ·v becomes one node, heads read and written in place",
       match_attention},
      {"gelu-fusion", "x/√2 → Erf → +1 → ·x → ·½ becomes Gelu", match_gelu},
      {"tanh-gelu-fusion", "½ · x · (1 + Tanh(√(2/π) · (x + 0.044715 · x³))) becomes Gelu", match_tanh_gelu},
      {"hard-swish-fusion", "x · Clip(x + 3, 0, 6) / 6, or x · HardSigmoid(x), becomes HardSwish", match_hard_swish},
      {"swish-fusion", "x · Sigmoid(x) becomes Swish", match_swish},
      {"matmul-fusion",
       "a product with constant weights (also dequantised ones) takes bias, activation and residual in", match_mat_mul},
      {"conv-fusion", "a convolution takes its activation in", match_conv_activation},
  };
  return kFusions;
}

bool fuse(graph::Model& model, std::span<const std::string> disabled, const AcceptFusion& accept) {
  return fuse_graph(model, model.graph, disabled, accept);
}

}  // namespace sardonyx::optimizer
