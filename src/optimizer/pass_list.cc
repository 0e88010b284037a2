#include "optimizer/passes/passes.h"
#include "optimizer/pipeline.h"

namespace sardonyx::optimizer {

std::span<const Pass> basic_passes() {
  // The list runs until nothing changes, so the order matters little; cheap ones that shrink the graph come first.
  static constexpr Pass kPasses[] = {
      {"unused-nodes", "removes nodes whose results nobody reads", remove_unused_nodes},
      {"identity", "removes Identity", remove_identities},
      {"dropout", "removes Dropout where it does nothing: everywhere but in training mode", remove_dropout},
      {"no-op-cast", "removes Cast to the type a value already has", remove_no_op_casts},
      {"constant-folding", "computes nodes whose inputs are all constant, unless that makes the model larger",
       fold_constants},
      {"shape-arithmetic", "gives Reshape a constant shape where the dimensions are known or copied",
       simplify_shape_arithmetic},
      {"no-op-movement", "removes Reshape, Transpose, Slice, Pad, Expand, Tile and Concat that change nothing",
       remove_no_op_movement},
      {"merge-movement", "makes one of two Transposes or Reshapes in a row", merge_movement},
      {"common-subexpressions", "computes equal nodes once", share_common_subexpressions},
      {"batch-norm-folding", "folds BatchNormalization into the weights of the convolution before it", fold_batch_norm},
      {"conv-affine-folding", "folds products and sums with a constant per channel into the convolution before them",
       fold_conv_affine},
      {"transpose-pushing", "moves Transposes past elementwise nodes, to where two of them cancel", push_transposes},
      {"cast-dequantizing", "makes a product of cast integer weights and their scales DequantizeLinear",
       cast_to_dequantize},
      {"dequantized-gather", "gathers rows of an integer table before dequantising them, not the other way round",
       gather_before_dequantizing},
  };
  return kPasses;
}

}  // namespace sardonyx::optimizer
