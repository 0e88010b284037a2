#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "graph/model.h"

namespace sardonyx::onnx {

using graph::Attributes;
using graph::Node;
using graph::ValueId;
using graph::ValueType;

/// What turns one node of an older opset into nodes of the internal one. Every node that is emitted is inferred at
/// once, so that the types of what it makes are known to the upgrades of the nodes after it.
class Upgrader {
 public:
  /// `version`: of the node's domain, as the model or function imports it.
  Upgrader(graph::Model& model, graph::Graph& graph, std::int64_t version, std::string place)
      : model_(model), graph_(graph), version_(version), place_(std::move(place)) {}

  std::int64_t version() const { return version_; }
  graph::Graph& graph() { return graph_; }
  graph::Model& model() { return model_; }

  // What is known of a value; nothing for one that is left out
  // -----------------------------------------------------------
  const ValueType& type(ValueId value) const;
  ElementType element(ValueId value) const { return type(value).element; }
  std::optional<std::size_t> rank(ValueId value) const;
  /// The value where it is a constant, else null.
  const Tensor* constant(ValueId value) const { return model_.constant_of(graph_, value); }

  // What the upgrade makes
  // -------------------------------------------------------------------------------------------------
  /// A node of ai.onnx with one output, which is returned.
  ValueId add(const char* op_type, std::vector<ValueId> inputs, Attributes attributes = {});
  /// The last node of an upgrade: it has the old node's name and makes the old node's outputs.
  void add_as(const Node& old, const char* op_type, std::vector<ValueId> inputs, Attributes attributes = {});
  /// Adds a node that is whole, its outputs' values included.
  void emit(Node node);
  ValueId add_constant(Tensor tensor);
  ValueId ints(const std::vector<std::int64_t>& values);  ///< int64 [n]
  ValueId int_scalar(std::int64_t value);
  ValueId shape_of(ValueId value);  ///< int64 [rank]
  ValueId rank_of(ValueId value);   ///< int64 [1]
  ValueId ones(ValueId count);      ///< count: int64 [1]; int64 [count] of ones
  ValueId floats(const std::vector<float>& values);
  /// A scalar of the element type that `like` has; by CastLike where that is not known.
  ValueId scalar_like(double value, ValueId like);

 private:
  void complete_outputs(Node& node);
  std::string next_name(const char* op_type);

  graph::Model& model_;
  graph::Graph& graph_;
  std::int64_t version_;
  std::string place_;  // begins the names of what is made
  int made_ = 0;
};

/// Attributes in one expression.
Attributes attributes_of(std::initializer_list<std::pair<std::string, graph::Attribute>> items);

/// Emits the nodes that say in the internal opset what `node` says in version `upgrader.version()`. Its outputs' values
/// exist and get their producers. Nodes of unknown operators and domains are kept as they are.
void upgrade_node(Upgrader& upgrader, Node node);

}  // namespace sardonyx::onnx
