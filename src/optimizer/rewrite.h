#pragma once

#include <span>
#include <string>
#include <string_view>

#include "graph/model.h"

namespace sardonyx::optimizer {

/// A whole-graph form. Runs after fusion, so it knows the operators of ai.sardonyx too. Changes no bit of any result.
struct Rewrite {
  std::string_view name;
  std::string_view description;
  /// Returns whether anything changed. New values have types afterwards.
  bool (*run)(graph::Model& model, graph::Graph& graph);
};

std::span<const Rewrite> rewrites();

/// Runs all but the disabled ones on the main graph.
bool rewrite(graph::Model& model, std::span<const std::string> disabled);

bool skip_unread_rows(graph::Model& model, graph::Graph& graph);  // rewrite/unread_rows.cc

}  // namespace sardonyx::optimizer
