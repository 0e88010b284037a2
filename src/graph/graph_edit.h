#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "graph/graph.h"

namespace sardonyx::graph {

/// Changes to a graph, collected first and then made in one walk by commit(): however many there are, they cost no more
/// than the graph is large. Until then the graph reads as before, except that new nodes' values exist.
///
/// An edit that is dropped without commit() changes nothing but for the nodes and values it has added, which nobody
/// reads.
class GraphEdit {
 public:
  explicit GraphEdit(Graph& graph) : graph_(graph) {}
  GraphEdit(const GraphEdit&) = delete;
  GraphEdit& operator=(const GraphEdit&) = delete;

  /// Every reader of `from`, graph outputs included, will read `to`, or what `to` itself is replaced by.
  void replace_uses(ValueId from, ValueId to);
  /// What will be read in place of the value.
  ValueId resolve(ValueId value) const;
  /// Takes the node out. Its outputs have no producer then, unless an inserted node makes them.
  void remove(NodeId id) { removed_.insert(id); }
  bool is_removed(NodeId id) const { return removed_.contains(id); }
  /// A new node, placed just before `before`; kNoNode: at the end. Those inserted before one node keep their order.
  Node& insert_before(NodeId before, Node node);
  /// The same for a standard operator with one output, named after `before`; returns the output, a new value without a
  /// type.
  ValueId add_before(NodeId before, std::string op_type, std::vector<ValueId> inputs, Attributes attributes = {});

  /// Makes the changes. Returns whether there were any. The order is topological after it, if it was and if each new
  /// node was placed behind what it reads; else call Graph::sort().
  bool commit();

 private:
  Graph& graph_;
  std::unordered_map<ValueId, ValueId> replaced_;
  std::unordered_set<NodeId> removed_;
  std::unordered_map<NodeId, std::vector<NodeId>> inserted_;  ///< by the node they are placed before
};

}  // namespace sardonyx::graph
