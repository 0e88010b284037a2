#pragma once

#include <cstddef>
#include <cstdint>

#include "base/thread_pool.h"

namespace sardonyx::kernels {

/// Strides in elements of a tensor [batch, heads, rows, dim] whose last axis is contiguous. 0 repeats.
struct AttentionStrides {
  std::ptrdiff_t batch = 0;
  std::ptrdiff_t head = 0;
  std::ptrdiff_t row = 0;
};

/// out = softmax(scale q kᵀ + masks) v for every batch item and head, in fp32.
///
/// Order of operations: every score is one chain of fused multiply-adds over the head dimension, times scale, plus the
/// additive mask; keys are taken in tiles of 256 counted from key 0; exponentials are summed by the lane rule in each tile and
/// a running maximum joins the tiles; every output is one chain over the keys, divided at the end. So masked keys at the end
/// (by length, causality, a mask of -infinity or one so low that e^(score - maximum) is 0) change no bit.
struct AttentionArguments {
  std::size_t batch = 1;
  std::size_t heads = 1;
  std::size_t key_heads = 0;   ///< heads of k and v; query head h uses key head h * key_heads / heads. 0: as `heads`
  std::size_t queries = 0;     ///< rows of q in each batch item
  std::size_t keys = 0;        ///< rows of k and v in each batch item
  std::size_t head_dim = 0;    ///< of q and k
  std::size_t value_dim = 0;   ///< of v and out. 0: as head_dim
  float scale = 1.0f;
  float softcap = 0.0f;        ///< not 0: scores become softcap tanh(score / softcap) before masks

  const float* q = nullptr;
  const float* k = nullptr;
  const float* v = nullptr;
  float* out = nullptr;
  AttentionStrides q_strides, k_strides, v_strides, out_strides;

  /// Sequences without padding: item b has the rows offsets[b] .. offsets[b + 1] of q, k, v and out, which are then indexed by
  /// row alone (batch strides are not used; `queries` and `keys` are the longest sequence). Null: none.
  const std::int64_t* offsets = nullptr;

  const float* additive_mask = nullptr;        ///< [batch, heads, queries, keys] by mask_strides, or null
  const std::uint8_t* keep_mask = nullptr;     ///< likewise: 0 removes a key; or null
  AttentionStrides mask_strides;
  const std::int64_t* key_lengths = nullptr;   ///< [batch] keys that exist, or null for all
  bool causal = false;                         ///< query i sees keys up to i + causal_offset
  std::ptrdiff_t causal_offset = 0;
  bool zero_masked_rows = true;  ///< a query without any key gives 0; false: NaN
};

/// Floats of workspace (64-byte aligned) for up to `max_threads` threads.
std::size_t attention_workspace_size(const AttentionArguments& arguments, int max_threads);

/// `out` must not overlap the inputs. parallel.max_threads must not exceed the one the workspace was sized for.
void attention(const AttentionArguments& arguments, float* workspace, Parallel parallel = {});

}  // namespace sardonyx::kernels
