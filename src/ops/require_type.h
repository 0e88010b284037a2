#pragma once

#include <string>

#include "ops/infer_context.h"

namespace sardonyx::ops {

/// Input i, unless it was left out, must be a tensor of this element type.
inline void require_type(InferContext& context, std::size_t i, ElementType type) {
  if (!context.has_input(i)) return;
  const ElementType found = context.tensor(i).element;
  context.require(found == type, "input " + std::to_string(i) + " must be of " + std::string(name(type)) + ", found " +
                                     std::string(name(found)));
}

}  // namespace sardonyx::ops
