#pragma once

#include <vector>

#include "graph/model.h"
#include "ops/infer_context.h"

namespace sardonyx::ops {

/// Infers the types of every value in the model, bodies included, from the graph inputs' types. Nodes whose operator is not
/// known get outputs of kind kNone (placement reports them). Throws with the node as context where the model contradicts itself.
/// Returns what was assumed. Runs again after changes; then types already there are replaced.
std::vector<Constraint> infer(graph::Model& model);

/// Infers the types of one node's outputs from its inputs' current types.
void infer_node(graph::Model& model, graph::Graph& graph, graph::Node& node, std::vector<Constraint>* constraints);

/// A node's description over the graph's current types. Owns what the NodeDesc borrows; movable, not copyable.
class DescribedNode {
 public:
  DescribedNode(const graph::Model& model, const graph::Graph& graph, const graph::Node& node);
  DescribedNode(const DescribedNode&) = delete;
  DescribedNode& operator=(const DescribedNode&) = delete;
  const graph::NodeDesc& desc() const { return desc_; }

 private:
  std::vector<ValueType> inputs_, outputs_;
  std::vector<const Tensor*> constants_;
  graph::NodeDesc desc_;
};

/// "node 'encoder/MatMul_3' (MatMul)": how errors name a node.
std::string node_place(const graph::Node& node);

}  // namespace sardonyx::ops
