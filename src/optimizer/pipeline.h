#pragma once

#include <span>
#include <string>
#include <vector>

#include "sardonyx/session.h"

#include "optimizer/pass.h"

namespace sardonyx::optimizer {

/// The semantics-preserving passes over standard operators, in the order they run.
std::span<const Pass> basic_passes();

struct OptimizeOptions {
  OptimizationLevel level = OptimizationLevel::kAll;
  std::vector<std::string> disabled_passes;  ///< an unknown name is an Error that lists the known ones
  Evaluator evaluate;
};

/// Expands Gradient nodes at every level; infers and rewrites the model until nothing changes (a bounded number of
/// rounds), and infers it again. The result is standard ONNX. Returns what inference assumed.
std::vector<ops::Constraint> optimize(graph::Model& model, const OptimizeOptions& options);

}  // namespace sardonyx::optimizer
