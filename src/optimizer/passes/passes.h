#pragma once

#include "graph/graph_edit.h"
#include "optimizer/pass.h"

namespace sardonyx::optimizer {

bool remove_unused_nodes(PassContext& context, graph::Graph& graph);          // unused_nodes.cc
bool fold_constants(PassContext& context, graph::Graph& graph);               // constant_folding.cc
bool remove_identities(PassContext& context, graph::Graph& graph);            // identity.cc
bool remove_dropout(PassContext& context, graph::Graph& graph);               // identity.cc
bool remove_no_op_casts(PassContext& context, graph::Graph& graph);           // identity.cc
bool remove_no_op_movement(PassContext& context, graph::Graph& graph);        // no_op_movement.cc
bool merge_movement(PassContext& context, graph::Graph& graph);               // merge_movement.cc
bool share_common_subexpressions(PassContext& context, graph::Graph& graph);  // common_subexpressions.cc
bool simplify_shape_arithmetic(PassContext& context, graph::Graph& graph);    // shape_arithmetic.cc
bool fold_batch_norm(PassContext& context, graph::Graph& graph);              // conv_affine.cc
bool fold_conv_affine(PassContext& context, graph::Graph& graph);             // conv_affine.cc
bool push_transposes(PassContext& context, graph::Graph& graph);              // transpose_pushing.cc
bool cast_to_dequantize(PassContext& context, graph::Graph& graph);           // cast_dequantize.cc
bool gather_before_dequantizing(PassContext& context, graph::Graph& graph);   // dequantized_gather.cc

}  // namespace sardonyx::optimizer
