#pragma once

#include <string_view>
#include <vector>

#include "ops/op_def.h"

namespace sardonyx::ops {

using OpTable = std::vector<OpDef>;

/// The operator, or null where there is none. Thread-safe; the table is built at first use and never changes.
const OpDef* find_op(std::string_view domain, std::string_view name);

/// Every operator, sorted by domain and name.
const OpTable& all_ops();

/// The standard's signature of an operator in its newest version, or null for operators the standard does not have.
const Signature* find_signature(std::string_view domain, std::string_view name);

// One function a family; the definition lies in the .cc of that name.
void add_elementwise_ops(OpTable& table);    // elementwise.cc: unary and binary arithmetic, activations, Clip, Where, Cast
void add_logic_ops(OpTable& table);          // logic.cc: comparison, boolean, bitwise, IsNaN, IsInf
void add_reduce_ops(OpTable& table);         // reduce.cc: Reduce*, ArgMax/Min, CumSum, CumProd, TopK
void add_shape_ops(OpTable& table);          // shape.cc: Shape, Reshape, Squeeze, Expand, Range, ConstantOfShape, Identity, …
void add_movement_ops(OpTable& table);       // movement.cc: Transpose, Concat, Split, Slice, Pad, Tile, Trilu, DepthToSpace, …
void add_gather_ops(OpTable& table);         // gather.cc: Gather*, Scatter*, OneHot, NonZero, Compress, Unique, …
void add_sequence_ops(OpTable& table);       // sequence.cc: Sequence*, Optional*, SplitToSequence, ConcatFromSequence
void add_string_ops(OpTable& table);         // string.cc: StringConcat, StringSplit, StringNormalizer, RegexFullMatch, TfIdf…
void add_control_flow_ops(OpTable& table);   // control_flow.cc: If, Loop, Scan, SequenceMap
void add_linalg_ops(OpTable& table);         // linalg.cc: MatMul, Gemm, Einsum, Det, MatMulInteger, …
void add_conv_ops(OpTable& table);           // conv.cc: Conv, ConvTranspose, ConvInteger, DeformConv, Col2Im, …
void add_pool_ops(OpTable& table);           // pool.cc: MaxPool, AveragePool, Lp, Global*, MaxUnpool, RoiAlign, …
void add_norm_ops(OpTable& table);           // norm.cc: Softmax family, LayerNormalization, BatchNormalization, LRN, Dropout, …
void add_recurrent_ops(OpTable& table);      // recurrent.cc: LSTM, GRU, RNN
void add_attention_ops(OpTable& table);      // attention.cc: Attention, RotaryEmbedding, LinearAttention, FlexAttention, …
void add_quantize_ops(OpTable& table);       // quantize.cc: QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear, QLinear*
void add_image_ops(OpTable& table);          // image.cc: Resize, GridSample, AffineGrid, NonMaxSuppression, …
void add_random_ops(OpTable& table);         // random.cc: Random*, Bernoulli, Multinomial
void add_signal_ops(OpTable& table);         // signal.cc: DFT, STFT, windows, MelWeightMatrix
void add_loss_ops(OpTable& table);           // loss.cc: losses, training optimizers, Gradient
void add_ml_ops(OpTable& table);             // ml.cc: ai.onnx.ml
void add_microsoft_ops(OpTable& table);      // microsoft.cc: com.microsoft
void add_internal_ops(OpTable& table);       // internal/internal.cc: ai.sardonyx

}  // namespace sardonyx::ops
