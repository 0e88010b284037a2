#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph_edit.h"
#include "graph/model.h"

namespace sardonyx::optimizer {

/// Adds nodes in front of a given one. Values that it makes have no types until the next inference.
class GradientBuilder {
 public:
  GradientBuilder(graph::Model& model, graph::Graph& graph, graph::GraphEdit& edit, graph::NodeId before)
      : model_(model), graph_(graph), edit_(edit), before_(before) {}

  graph::ValueId add(std::string op_type, std::vector<graph::ValueId> inputs, graph::Attributes attributes = {}) {
    return edit_.add_before(before_, std::move(op_type), std::move(inputs), std::move(attributes));
  }
  graph::ValueId ints(const std::vector<std::int64_t>& values);
  /// A scalar of `like`'s element type.
  graph::ValueId number(float value, graph::ValueId like);
  /// A tensor of `like`'s shape and element type, filled.
  graph::ValueId filled_like(graph::ValueId like, float value);

  graph::ValueId mul(graph::ValueId a, graph::ValueId b) { return add("Mul", {a, b}); }
  graph::ValueId neg(graph::ValueId a) { return add("Neg", {a}); }
  /// The last two dimensions exchanged. `rank`: of x.
  graph::ValueId transposed(graph::ValueId x, std::size_t rank);

  /// Undoes broadcasting: `value`, which has the shape of `shaped_as`, summed to the shape of `like`.
  graph::ValueId sum_to(graph::ValueId value, graph::ValueId shaped_as, graph::ValueId like);
  /// The same where no value of the forward pass has `value`'s shape.
  graph::ValueId sum_to(graph::ValueId value, graph::ValueId like);

  const graph::ValueType& type(graph::ValueId value) const { return graph_.value(value).type; }
  const Tensor* constant(graph::ValueId value) const { return model_.constant_of(graph_, value); }

 private:
  /// The axes of a value of type `from` along which `to` was broadcast; nothing where that shows only when running.
  static std::optional<std::vector<std::int64_t>> broadcast_axes(const graph::ValueType& from,
                                                                 const graph::ValueType& to);
  graph::ValueId reduce(graph::ValueId value, graph::ValueId axes, graph::ValueId like);

  graph::Model& model_;
  graph::Graph& graph_;
  graph::GraphEdit& edit_;
  graph::NodeId before_;
};

}  // namespace sardonyx::optimizer
