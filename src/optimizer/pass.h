#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "graph/model.h"
#include "ops/infer.h"
#include "sardonyx/value.h"

namespace sardonyx::optimizer {

/// Runs one node on constant inputs, for constant folding: its outputs, or nullopt when nobody can. Injected, since the
/// optimizer knows no provider.
using Evaluator = std::function<std::optional<std::vector<Value>>(const graph::Node& node, std::span<const Value> inputs)>;

/// What passes work on and with.
struct PassContext {
  graph::Model& model;
  const Evaluator& evaluate;
};

/// One rewriting of a graph that keeps its meaning. Called for the main graph and for every body, bodies first.
struct Pass {
  std::string_view name;         ///< what users switch off: "constant-folding"
  std::string_view description;  ///< one line
  /// Returns whether anything changed. The graph is inferred before, and may be left without types for new values only.
  bool (*run)(PassContext& context, graph::Graph& graph);
};

}  // namespace sardonyx::optimizer
