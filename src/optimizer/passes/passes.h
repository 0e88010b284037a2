#pragma once

#include "optimizer/pass.h"

namespace sardonyx::optimizer {

bool remove_unused_nodes(PassContext& context, graph::Graph& graph);  // unused_nodes.cc
bool fold_constants(PassContext& context, graph::Graph& graph);       // constant_folding.cc

}  // namespace sardonyx::optimizer
