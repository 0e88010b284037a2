#include "optimizer/pipeline.h"

#include <algorithm>

#include "base/fail.h"
#include "optimizer/fusion.h"
#include "optimizer/gradient/gradient.h"
#include "optimizer/rewrite.h"

namespace sardonyx::optimizer {
namespace {

constexpr int kMaxRounds =
    64;  // each changes something, and every pass shrinks the graph or brings two transposes together

bool run_on_graph(PassContext& context, const Pass& pass, graph::Graph& graph) {
  bool changed = false;
  const std::vector<graph::NodeId> order = graph.order();
  for (graph::NodeId id : order) {
    graph::for_each_subgraph(graph.node(id), [&](graph::Graph& body) { changed |= run_on_graph(context, pass, body); });
  }
  return pass.run(context, graph) || changed;
}

void check_names(const std::vector<std::string>& names) {
  std::vector<std::string_view> all;
  for (const Pass& pass : basic_passes()) all.push_back(pass.name);
  for (const Fusion& fusion : fusions()) all.push_back(fusion.name);
  for (const Rewrite& rewrite : rewrites()) all.push_back(rewrite.name);
  for (const std::string& name : names) {
    if (std::find(all.begin(), all.end(), name) != all.end()) continue;
    std::string known;
    for (std::string_view one : all) known += (known.empty() ? "" : ", ") + std::string(one);
    fail(ErrorCode::kInvalidArgument, "there is no pass '{}' to switch off; there are: {}", name, known);
  }
}

}  // namespace

std::vector<ops::Constraint> optimize(graph::Model& model, const OptimizeOptions& options) {
  check_names(options.disabled_passes);
  std::vector<ops::Constraint> constraints = ops::infer(model);
  if (expand_gradients(model)) constraints = ops::infer(model);
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
