#include "runtime/plan.h"

#include "runtime/plan_builder.h"

namespace sardonyx::runtime {

std::unique_ptr<Plan> Plan::build(const Options& options, const graph::Graph& graph, const std::vector<bool>& known) {
  return PlanBuilder(options, graph, known).build();
}

const Tensor& Plan::constant(ValueId id) const {
  const std::int32_t own = own_constant_of_[static_cast<std::size_t>(id)];
  if (own >= 0) return own_constants_[static_cast<std::size_t>(own)];
  return options_.model->constant(graph_->value(id).constant);
}

}  // namespace sardonyx::runtime
