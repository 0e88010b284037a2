// The domain ai.sardonyx: what placement, fusions and rewriting put in place of standard operators. Fully described by
// ONNX attributes, so that a fused model can be saved.
#include "ops/families.h"
#include "ops/infer_context.h"
#include "ops/op_list.h"

namespace sardonyx::ops {
namespace {

void infer_copy(InferContext& context) { context.set_output(0, context.input(0)); }

/// x [..., M, K] · weights [K, N] → [..., M, N]; scale and zero point belong to the weights.
void infer_fused_mat_mul(InferContext& context) { set_mat_mul(context, 0, 1, context.element(0)); }

/// The same as Conv; a residual has the output's shape.
void infer_fused_conv(InferContext& context) {
  infer_conv(context);
  if (!context.has_input(3) || !context.has_rank(3)) return;
  ValueType result = context.outputs()[0];
  if (!result.has_rank) return;
  context.require_rank(3, result.rank());
  for (std::size_t i = 0; i < result.rank(); ++i)
    result.dims[i] = context.same(result.dims[i], context.dim(3, i), "the residual's and the result's dimensions");
  context.set_output(0, std::move(result));
}

}  // namespace

void add_internal_ops(OpTable& table) {
  // The same bytes in the memory of the provider that attribute `to` names; put in by placement, run by the runtime.
  table.push_back({"ai.sardonyx", "Copy", infer_copy, {}});
  // activation(x · ((weights − zero point) · scale) + bias) + residual. Inputs: x, weights, scale, zero point, bias,
  // residual.
  table.push_back({"ai.sardonyx", "FusedMatMul", infer_fused_mat_mul, {}});
  // activation(Conv(x, weights, bias) + residual). Attributes: Conv's, `activation` and `activation_params`.
  table.push_back({"ai.sardonyx", "FusedConv", infer_fused_conv, {.in_place = mask({3})}});
  // softmax(scale · q kᵀ + mask) v. Inputs and attributes: the first four of ONNX's Attention, `q_num_heads`,
  // `kv_num_heads`, `scale`; with `zero_masked_rows` a query without any key gives 0, not NaN.
  table.push_back({"ai.sardonyx", "FusedAttention", infer_attention, {}});
}

}  // namespace sardonyx::ops
