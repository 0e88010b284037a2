#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/model.h"
#include "graph/node_desc.h"

namespace sardonyx::optimizer {

/// A place where a pattern fits: one node that would do the work of several.
struct FusionMatch {
  std::vector<graph::NodeId> nodes;  ///< what it replaces; no other node reads their inner results
  graph::Node fused;                 ///< its outputs are values that the replaced nodes make now
};

/// What patterns look at: the graph as it was before the matches of this walk.
class FusionContext {
 public:
  FusionContext(graph::Model& model, graph::Graph& graph) : model_(model), graph_(graph), uses_(graph.uses()) {}

  graph::Model& model() const { return model_; }
  graph::Graph& graph() const { return graph_; }
  const Tensor* constant(graph::ValueId value) const { return model_.constant_of(graph_, value); }
  const graph::ValueType& type(graph::ValueId value) const { return graph_.value(value).type; }
  /// The node that makes the value, when it is of that operator; null otherwise.
  const graph::Node* made_by(graph::ValueId value, std::string_view op) const;
  /// Every reader of the value.
  const std::vector<graph::Use>& readers(graph::ValueId value) const { return uses_[static_cast<std::size_t>(value)]; }
  /// The only reader of the value, or null: where there are several, or the value is an output of the graph.
  const graph::Node* only_reader(graph::ValueId value) const;
  /// Whether the value is a float constant of one element, within 1e-4 of `expected` relatively.
  bool is_scalar(graph::ValueId value, double expected) const;
  /// What the node multiplies by that constant (see is_scalar); kNoValue where it does not.
  graph::ValueId multiplied_by(const graph::Node& node, double constant) const;
  /// The other operand of a binary node.
  static graph::ValueId other(const graph::Node& node, graph::ValueId one) {
    return node.inputs[0] == one ? node.inputs[1] : node.inputs[0];
  }

 private:
  graph::Model& model_;
  graph::Graph& graph_;
  std::vector<std::vector<graph::Use>> uses_;
};

/// A pattern. match() is asked for every node as the pattern's anchor, in the graph's order.
struct Fusion {
  std::string_view name;
  std::string_view description;
  std::optional<FusionMatch> (*match)(const FusionContext& context, const graph::Node& anchor);
};

/// In the order they are tried.
std::span<const Fusion> fusions();

/// Whether the fused node may take the place of the others: placement's answer, provider by provider in the user's
/// order.
using AcceptFusion = std::function<bool(const graph::NodeDesc& fused, std::span<const graph::NodeId> replaced,
                                        const graph::Graph& graph)>;

/// Commits every match that is accepted, bodies included. The model must be inferred; new nodes' outputs keep their
/// types. Returns whether anything changed.
bool fuse(graph::Model& model, std::span<const std::string> disabled, const AcceptFusion& accept);

std::optional<FusionMatch> match_attention(const FusionContext& context,
                                           const graph::Node& anchor);                           // fusions/attention.cc
std::optional<FusionMatch> match_gelu(const FusionContext& context, const graph::Node& anchor);  // fusions/gelu.cc
std::optional<FusionMatch> match_tanh_gelu(const FusionContext& context,
                                           const graph::Node& anchor);  // fusions/gelu.cc
std::optional<FusionMatch> match_hard_swish(const FusionContext& context,
                                            const graph::Node& anchor);                           // fusions/swish.cc
std::optional<FusionMatch> match_swish(const FusionContext& context, const graph::Node& anchor);  // fusions/swish.cc
std::optional<FusionMatch> match_mat_mul(const FusionContext& context,
                                         const graph::Node& anchor);  // fusions/mat_mul.cc
std::optional<FusionMatch> match_conv_activation(const FusionContext& context,
                                                 const graph::Node& anchor);  // fusions/conv.cc

}  // namespace sardonyx::optimizer
