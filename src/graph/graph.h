#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "graph/attribute.h"
#include "graph/value_type.h"

namespace sardonyx::graph {

using NodeId = std::int32_t;
using ValueId = std::int32_t;
using ConstId = std::int32_t;
inline constexpr NodeId kNoNode = -1;
inline constexpr ValueId kNoValue = -1;  ///< an input or output that is left out
inline constexpr ConstId kNoConst = -1;

/// One operation. In a node with subgraphs (If, Loop, Scan, SequenceMap) the last `captures` inputs are outer values
/// that the bodies read; each body takes them as its last inputs, in the same order, so every Graph is closed.
struct Node {
  NodeId id = kNoNode;
  std::string domain;  ///< "" is ai.onnx
  std::string op_type;
  std::string name;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  Attributes attributes;
  std::int32_t captures = 0;
  std::string provider;  ///< set by placement; "" before

  bool is(std::string_view type) const { return domain.empty() && op_type == type; }
  bool has_input(std::size_t i) const { return i < inputs.size() && inputs[i] != kNoValue; }
  ValueId input(std::size_t i) const { return i < inputs.size() ? inputs[i] : kNoValue; }
};

/// One edge: who makes it and what is known of it.
struct ValueInfo {
  std::string name;
  ValueType type;
  NodeId producer = kNoNode;    ///< kNoNode for graph inputs and constants
  ConstId constant = kNoConst;  ///< in Model::constants
  bool is_constant() const { return constant != kNoConst; }
};

struct Use {
  NodeId node;  ///< kNoNode: the graph's output number `index`
  std::int32_t index;
};

/// A closed graph in single-assignment form. Nodes and values keep their ids for the graph's life; order() is
/// topological.
///
/// Nodes are added here, and changed, moved and removed through GraphEdit (graph_edit.h); an order that is broken is
/// mended by sort(). Names of the graph's inputs and outputs are kept apart from the values' names, since an optimised
/// graph may return an input or the same value twice. Not thread-safe to change; const use is.
class Graph {
 public:
  std::string name;
  std::vector<ValueId> inputs;
  std::vector<std::string> input_names;
  std::vector<ValueId> outputs;
  std::vector<std::string> output_names;
  /// Inputs that have a default: input_defaults[i] is the constant used when the caller gives none, else kNoConst.
  std::vector<ConstId> input_defaults;

  ValueId add_value(std::string value_name, ValueType type = {});
  ValueId add_constant(std::string value_name, ConstId constant, ValueType type);
  ValueId add_input(std::string input_name, ValueType type);
  void add_output(ValueId value, std::string output_name);
  /// Appends a node at the end of the order and makes it its outputs' producer. Returns a reference valid for the
  /// graph's life.
  Node& add_node(Node node);
  /// Puts nodes in topological order, stable. Throws kInvalidModel naming a node on a cycle.
  void sort();
  /// Removes nodes none of whose outputs is used. Returns how many.
  std::size_t remove_unused();

  Node& node(NodeId id) { return nodes_[static_cast<std::size_t>(id)]; }
  const Node& node(NodeId id) const { return nodes_[static_cast<std::size_t>(id)]; }
  ValueInfo& value(ValueId id) { return values_[static_cast<std::size_t>(id)]; }
  const ValueInfo& value(ValueId id) const { return values_[static_cast<std::size_t>(id)]; }
  std::size_t value_count() const { return values_.size(); }
  std::size_t node_capacity() const { return nodes_.size(); }  ///< ids are below this; removed ones included
  /// Ids of the living nodes in topological order. Invalidated by changes.
  const std::vector<NodeId>& order() const { return order_; }
  /// Who reads each value, indexed by ValueId. Computed afresh: keep the result, and again after changes.
  std::vector<std::vector<Use>> uses() const;
  /// The node that makes the value, or null.
  const Node* producer(ValueId id) const;

  /// A deep copy, subgraphs included.
  std::shared_ptr<Graph> clone() const;

 private:
  friend class GraphEdit;
  std::deque<Node> nodes_;
  std::deque<ValueInfo> values_;
  std::vector<NodeId> order_;
};

/// Calls fn for each subgraph in the node's attributes.
void for_each_subgraph(const Node& node, const std::function<void(Graph&)>& fn);

}  // namespace sardonyx::graph
