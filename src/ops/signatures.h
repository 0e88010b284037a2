#pragma once

#include <cstddef>

#include "graph/node_desc.h"
#include "ops/op_def.h"

namespace sardonyx::ops {

/// Checks a node against the standard's signature of its operator: how many inputs and outputs, inputs that may not be
/// left out, element types and where they must agree, attributes and their kinds. Attributes whose name begins with an
/// underscore are ignored. Operators the standard does not have pass. Throws kInvalidModel saying what was expected and
/// what was found.
void check_signature(const graph::NodeDesc& node, std::size_t num_outputs);

}  // namespace sardonyx::ops
