#include "optimizer/passes/passes.h"

namespace sardonyx::optimizer {

bool remove_unused_nodes(PassContext&, graph::Graph& graph) { return graph.remove_unused() > 0; }

}  // namespace sardonyx::optimizer
