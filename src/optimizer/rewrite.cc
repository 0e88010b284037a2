#include "optimizer/rewrite.h"

#include <algorithm>

namespace sardonyx::optimizer {

std::span<const Rewrite> rewrites() {
  static constexpr Rewrite kRewrites[] = {
      {"unread-rows", "where only the first row of a sequence is read, computes that row alone, as far back as rows are independent", skip_unread_rows},
  };
  return kRewrites;
}

bool rewrite(graph::Model& model, std::span<const std::string> disabled) {
  bool changed = false;
  for (const Rewrite& one : rewrites()) {
    if (std::find(disabled.begin(), disabled.end(), one.name) == disabled.end()) changed |= one.run(model, model.graph);
  }
  return changed;
}

}  // namespace sardonyx::optimizer
