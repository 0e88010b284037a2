#include "optimizer/fusion.h"

#include <algorithm>
#include <cmath>
#include <utility>

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

void commit(Graph& graph, FusionMatch match) {
  std::vector<std::string> from;
  for (graph::NodeId id : match.nodes) {
    const Node& node = graph.node(id);
    from.push_back(node.op_type + (node.name.empty() ? "" : " '" + node.name + "'"));
  }
  // The last of them in the graph's order is where all inputs are known.
  const auto& order = graph.order();
  const auto last = std::find_if(order.rbegin(), order.rend(), [&](graph::NodeId id) {
    return std::find(match.nodes.begin(), match.nodes.end(), id) != match.nodes.end();
  });
  match.fused.attributes.set("_fused_from", std::move(from));
  match.fused.name = graph.node(*last).name;
  const graph::NodeId before = *last;
  // Outputs change hands: the replaced nodes let go of them first.
  Node& fused = graph.insert_node_before(before, std::move(match.fused));
  for (graph::NodeId id : match.nodes) graph.remove_node(id);
  for (graph::ValueId output : fused.outputs) {
    if (output != graph::kNoValue) graph.value(output).producer = fused.id;
  }
}

bool fuse_one(graph::Model& model, Graph& graph, const Fusion& fusion, const AcceptFusion& accept) {
  bool changed = false;
  const std::vector<graph::NodeId> order = graph.order();
  auto context = std::make_unique<FusionContext>(model, graph);
  for (graph::NodeId id : order) {
    if (graph.node(id).id != id) continue;  // gone with an earlier match
    std::optional<FusionMatch> match = fusion.match(*context, graph.node(id));
    if (!match || !accepts(model, graph, *match, accept)) continue;
    commit(graph, std::move(*match));
    context = std::make_unique<FusionContext>(model, graph);
    changed = true;
  }
  return changed;
}

bool fuse_graph(graph::Model& model, Graph& graph, std::span<const std::string> disabled, const AcceptFusion& accept) {
  bool changed = false;
  const std::vector<graph::NodeId> order = graph.order();
  for (graph::NodeId id : order) {
    graph::for_each_subgraph(graph.node(id), [&](Graph& body) { changed |= fuse_graph(model, body, disabled, accept); });
  }
  for (const Fusion& fusion : fusions()) {
    if (std::find(disabled.begin(), disabled.end(), fusion.name) == disabled.end()) changed |= fuse_one(model, graph, fusion, accept);
  }
  if (changed) graph.remove_unused();
  return changed;
}

}  // namespace

const Node* FusionContext::made_by(graph::ValueId value, std::string_view op) const {
  const Node* node = graph_.producer(value);
  return node && node->is(op) ? node : nullptr;
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
      {"gelu-fusion", "x/√2 → Erf → +1 → ·x → ·½ becomes Gelu", match_gelu},
      {"matmul-fusion", "a product with constant weights (also dequantised ones) takes bias, activation and residual in", match_mat_mul},
      {"conv-fusion", "a convolution takes its activation in", match_conv_activation},
  };
  return kFusions;
}

bool fuse(graph::Model& model, std::span<const std::string> disabled, const AcceptFusion& accept) {
  return fuse_graph(model, model.graph, disabled, accept);
}

}  // namespace sardonyx::optimizer
