#include "optimizer/passes/passes.h"
#include "optimizer/pipeline.h"

namespace sardonyx::optimizer {

std::span<const Pass> basic_passes() {
  // The order matters little, since the list runs until nothing changes; cheap ones that shrink the graph come first.
  static constexpr Pass kPasses[] = {
      {"unused-nodes", "removes nodes whose results nobody reads", remove_unused_nodes},
      {"constant-folding", "computes nodes whose inputs are all constant", fold_constants},
  };
  return kPasses;
}

}  // namespace sardonyx::optimizer
