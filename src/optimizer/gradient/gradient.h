#pragma once

#include <string_view>
#include <vector>

#include "optimizer/gradient/builder.h"

namespace sardonyx::optimizer {

// Gradient (ai.onnx.preview.training) is a macro: it names a part of the graph around it and asks for that part's
// derivatives. It is replaced by the nodes that compute them, by reverse accumulation, in standard operators.

/// Replaces every Gradient node, bodies included. The model must be inferred, and is inferred again where there was
/// one. Returns whether there was. Throws kInvalidModel where a Gradient names what isn't there, kUnsupported where an
/// operator on the way has no rule.
bool expand_gradients(graph::Model& model);

/// The derivatives of one operator: given the node (its inputs and output as the forward pass has them) and the
/// gradient of its output, the gradient of each input; kNoValue where there is none.
using DerivativeRule = std::vector<graph::ValueId> (*)(GradientBuilder& builder, const graph::Node& node,
                                                       graph::ValueId gradient);

/// Null where there is no rule.
DerivativeRule find_derivative_rule(std::string_view op_type);
/// "Abs, Add, ...": the operators that have one.
std::string derivative_rule_names();

}  // namespace sardonyx::optimizer
