#pragma once

#include <string>
#include <vector>

#include "graph/model.h"

namespace sardonyx::api {

// A model saved after fusion and rewriting is in operators of ai.sardonyx, whose meaning belongs to a version of this program. A
// stamp in the model's metadata says which, and loading refuses where it does not hold.

/// Marks a model that is about to be saved in its fused form for these providers.
void stamp_fused(graph::Model& model, const std::vector<std::string>& providers);

/// Passes for models that are not stamped. Throws kUnsupported saying what differs and to optimise the original again.
void check_stamp(const graph::Model& model, const std::vector<std::string>& providers);

}  // namespace sardonyx::api
