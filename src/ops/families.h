#pragma once

#include "ops/infer_context.h"
#include "ops/op_def.h"
#include "ops/op_list.h"

// Parts of families that fill more than one file; called by the family's own add function.
namespace sardonyx::ops {

void add_cast_ops(OpTable& table);   // cast.cc: Cast, CastLike, BitCast; part of elementwise
void add_einsum_op(OpTable& table);  // einsum.cc; part of linalg
void add_microsoft_quantize_ops(
    OpTable& table);  // microsoft_quantize.cc: com.microsoft's quantised operators; part of quantize

/// Output 0 becomes the product of two inputs by NumPy's matmul rules (linalg.cc).
/// With `transpose_a` (`transpose_b`) an operand of rank 2 or more has its last two dimensions exchanged.
void set_mat_mul(InferContext& context, std::size_t a_input, std::size_t b_input, ElementType element,
                 bool transpose_a = false, bool transpose_b = false);

/// Attention's inference: query, key, value, mask, past_key, past_value, nonpad_kv_seqlen (attention.cc).
void infer_attention(InferContext& context);

/// Conv's inference: x, weights, bias (conv.cc).
void infer_conv(InferContext& context);

}  // namespace sardonyx::ops
