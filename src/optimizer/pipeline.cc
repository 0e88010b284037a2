#include "optimizer/pipeline.h"

#include <algorithm>

#include "base/fail.h"

namespace sardonyx::optimizer {
namespace {

constexpr int kMaxRounds = 64;  // each changes something, and every pass shrinks the graph or brings two transposes together

bool run_on_graph(PassContext& context, const Pass& pass, graph::Graph& graph) {
  bool changed = false;
  const std::vector<graph::NodeId> order = graph.order();
  for (graph::NodeId id : order) {
    graph::for_each_subgraph(graph.node(id), [&](graph::Graph& body) { changed |= run_on_graph(context, pass, body); });
  }
  return pass.run(context, graph) || changed;
}

void check_names(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const auto passes = basic_passes();
    if (std::any_of(passes.begin(), passes.end(), [&](const Pass& pass) { return pass.name == name; })) continue;
    std::string known;
    for (const Pass& pass : passes) known += (known.empty() ? "" : ", ") + std::string(pass.name);
    fail(ErrorCode::kInvalidArgument, "there is no pass '{}' to switch off; there are: {}", name, known);
  }
}

}  // namespace

std::vector<ops::Constraint> optimize(graph::Model& model, const OptimizeOptions& options) {
  check_names(options.disabled_passes);
  std::vector<ops::Constraint> constraints = ops::infer(model);
  if (options.level == OptimizationLevel::kDisable) return constraints;
  PassContext context{model, options.evaluate};
  for (int round = 0; round < kMaxRounds; ++round) {
    bool changed = false;
    for (const Pass& pass : basic_passes()) {
      const auto& off = options.disabled_passes;
      if (std::find(off.begin(), off.end(), pass.name) != off.end()) continue;
      if (!run_on_graph(context, pass, model.graph)) continue;
      changed = true;
      constraints = ops::infer(model);
    }
    if (!changed) break;
  }
  return constraints;
}

}  // namespace sardonyx::optimizer
