#include <string>

#include "ops/families.h"
#include "ops/op_list.h"
#include "ops/require_type.h"

namespace sardonyx::ops {
namespace {

std::string at(std::size_t i) { return "input " + std::to_string(i); }

/// Query, key or value as [batch, heads, sequence, size], whichever way it was given.
struct Heads {
  Dim batch, heads, sequence, size;
};

/// `size` elements cut into `heads` equal parts.
Dim split_heads(InferContext& context, const Dim& size, std::int64_t heads, std::size_t input) {
  const bool divides = !size.is_constant() || size.constant() % heads == 0;
  context.require(divides, "the last dimension of " + at(input) + ", " + size.to_string() +
                               ", must be a multiple of the " + std::to_string(heads) + " heads");
  if (!size.is_constant())
    context.require_multiple(size, heads, "the last dimension of " + at(input) + ", in whole heads, and all of it,");
  return floor_div(size, heads);
}

std::int64_t heads_attribute(InferContext& context, const char* name) {
  const std::int64_t heads = context.attributes().get_int(name);
  context.require(heads > 0, std::string("attribute '") + name + "' must be positive, found " + std::to_string(heads));
  return heads;
}

Heads read_heads(InferContext& context, std::size_t i, const char* attribute) {
  const std::vector<Dim>& dims = context.dims(i);
  context.require(dims.size() == 3 || dims.size() == 4,
                  at(i) + " must have rank 3 or 4, found " + context.input(i).to_string());
  if (dims.size() == 4) return {dims[0], dims[1], dims[2], dims[3]};
  const std::int64_t heads = heads_attribute(context, attribute);
  return {dims[0], heads, dims[1], split_heads(context, dims[2], heads, i)};
}

void check_grouping(InferContext& context, const Dim& q_heads, const Dim& kv_heads) {
  const bool known = q_heads.is_constant() && kv_heads.is_constant();
  context.require(
      !known || (kv_heads.constant() > 0 && q_heads.constant() % kv_heads.constant() == 0),
      "the " + q_heads.to_string() + " query heads must be a multiple of the " + kv_heads.to_string() + " key heads");
  if (!known)
    context.require_multiple(q_heads, kv_heads, "the query heads, in groups of the key heads, and all of them");
}

/// The mask must broadcast to [batch, heads, queries, keys]; its last dimension may be shorter than keys.
void check_mask(InferContext& context, const std::vector<Dim>& scores) {
  if (!context.has_input(3) || !context.has_rank(3)) return;
  const std::size_t rank = context.rank(3);
  context.require(rank >= 1 && rank <= 4, "the mask must have rank 1 to 4, found " + context.input(3).to_string());
  for (std::size_t i = 0; i < rank; ++i) {
    const Dim &mask = context.dim(3, i), &wanted = scores[4 - rank + i];
    if (mask.is(1)) continue;
    if (i + 1 == rank)
      context.require_at_most(mask, wanted, "the keys, and the longer of them and the mask,");
    else
      context.require_broadcasts_to(mask, wanted, "dimensions of the mask and the scores");
  }
}

void set_unknown_attention(InferContext& context) {
  context.set_unranked(0, context.element(0));
  context.set_unranked(1, context.element(1));
  context.set_unranked(2, context.element(2));
  context.set_unranked(3, context.element(0));
}

}  // namespace

void infer_attention(InferContext& context) {
  require_type(context, 6, ElementType::kInt64);
  for (std::size_t i = 0; i < 3; ++i) context.tensor(i);
  const std::int64_t mode = context.attributes().get_int("qk_matmul_output_mode", 0);
  context.require(mode >= 0 && mode <= 3,
                  "attribute 'qk_matmul_output_mode' must be 0 to 3, found " + std::to_string(mode));
  context.require(context.has_input(4) == context.has_input(5), "past_key and past_value must be given together");
  if (!context.has_rank(0) || !context.has_rank(1) || !context.has_rank(2)) return set_unknown_attention(context);
  const bool packed = context.rank(0) == 3;
  context.require(context.rank(1) == context.rank(0) && context.rank(2) == context.rank(0),
                  "query, key and value must have one rank");
  const Heads q = read_heads(context, 0, "q_num_heads"), k = read_heads(context, 1, "kv_num_heads"),
              v = read_heads(context, 2, "kv_num_heads");
  const Dim batch = context.same(q.batch, k.batch, "the batch sizes of query and key");
  context.same(batch, v.batch, "the batch sizes of query and value");
  const Dim head_size = context.same(q.size, k.size, "the head sizes of query and key");
  const Dim kv_heads = context.same(k.heads, v.heads, "the heads of key and value");
  const Dim keys = context.same(k.sequence, v.sequence, "the sequence lengths of key and value");
  check_grouping(context, q.heads, kv_heads);
  Dim total = keys;
  if (context.has_input(4)) {
    const bool known = context.has_rank(4);
    context.require_rank(4, 4);
    context.require_rank(5, 4);
    total = (known ? context.dim(4, 2) : context.fresh("past")) + keys;
    if (known && context.has_rank(5)) {
      context.same(context.dim(4, 2), context.dim(5, 2), "the lengths of past_key and past_value");
      for (std::size_t i : {4, 5}) {
        context.same(context.dim(i, 0), batch, "the batch sizes of query and " + at(i));
        context.same(context.dim(i, 1), kv_heads, "the heads of key and " + at(i));
        context.same(context.dim(i, 3), i == 4 ? head_size : v.size,
                     "the head sizes of " + at(i) + " and what it continues");
      }
    }
  }
  if (context.has_input(6) && context.has_rank(6)) {
    context.require_rank(6, 1);
    context.same(context.dim(6, 0), batch, "the batch size and the length of nonpad_kv_seqlen");
  }
  const std::vector<Dim> scores = {batch, q.heads, q.sequence, total};
  check_mask(context, scores);
  context.set_tensor(0, context.element(0),
                     packed ? std::vector<Dim>{batch, q.sequence, q.heads * v.size}
                            : std::vector<Dim>{batch, q.heads, q.sequence, v.size});
  context.set_tensor(1, context.element(1), {batch, kv_heads, total, head_size});
  context.set_tensor(2, context.element(2), {batch, kv_heads, total, v.size});
  context.set_tensor(3, context.element(0), scores);
}

namespace {

void infer_rotary_embedding(InferContext& context) {
  require_type(context, 3, ElementType::kInt64);
  context.tensor(0);
  context.tensor(1);
  context.tensor(2);
  const std::int64_t rotary = context.attributes().get_int("rotary_embedding_dim", 0);
  context.require(rotary >= 0 && rotary % 2 == 0,
                  "attribute 'rotary_embedding_dim' must be even, found " + std::to_string(rotary));
  if (context.has_rank(0)) {
    const Heads x = read_heads(context, 0, "num_heads");
    if (x.size.is_constant()) {
      context.require(
          rotary <= x.size.constant() && (rotary != 0 || x.size.constant() % 2 == 0),
          "RotaryEmbedding can't turn " + std::to_string(rotary) + " of a head's " + x.size.to_string() + " elements");
    }
    if (!x.size.is_constant() && rotary != 0)
      context.require_at_most(rotary, x.size, "a head's size, and the larger of it and rotary_embedding_dim,");
    if (!x.size.is_constant() && rotary == 0)
      context.require_multiple(x.size, 2, "a head's size, rounded to an even number, and as it is,");
    const bool gathered = context.has_input(3);
    for (std::size_t i : {1, 2}) {
      context.require_rank(i, gathered ? 2 : 3);
      if (!context.has_rank(i)) continue;
      const Dim half = rotary ? Dim(rotary / 2) : floor_div(x.size, 2);
      context.same(context.dims(i).back(), half, "the last dimension of " + at(i) + " and half the rotated elements");
      if (!gathered) {
        context.same(context.dim(i, 0), x.batch, "the batch sizes of X and " + at(i));
        context.same(context.dim(i, 1), x.sequence, "the sequence lengths of X and " + at(i));
      }
    }
    if (gathered && context.has_rank(3)) {
      context.require_rank(3, 2);
      context.same(context.dim(3, 0), x.batch, "the batch sizes of X and position_ids");
      context.same(context.dim(3, 1), x.sequence, "the sequence lengths of X and position_ids");
    }
  }
  context.set_like(0, 0);
}

/// LinearAttention's decay and beta: which update rules take them.
void check_linear_inputs(InferContext& context) {
  const std::string rule = context.attributes().get_string("update_rule", "gated_delta");
  const bool known = rule == "linear" || rule == "gated" || rule == "delta" || rule == "gated_delta";
  context.require(known, "attribute 'update_rule' must be linear, gated, delta or gated_delta, found '" + rule + "'");
  const bool gated = rule == "gated" || rule == "gated_delta", delta = rule == "delta" || rule == "gated_delta";
  context.require(context.has_input(4) == gated,
                  "decay goes with the update rules gated and gated_delta, and with no other");
  context.require(context.has_input(5) == delta,
                  "beta goes with the update rules delta and gated_delta, and with no other");
}

void infer_linear_attention(InferContext& context) {
  for (std::size_t i = 0; i < 3; ++i) {
    context.tensor(i);
    context.require_rank(i, 3);
  }
  check_linear_inputs(context);
  const std::int64_t q_heads = heads_attribute(context, "q_num_heads"),
                     kv_heads = heads_attribute(context, "kv_num_heads");
  check_grouping(context, q_heads, kv_heads);
  const ElementType state_type = context.has_input(3) ? context.element(3) : context.element(0);
  if (!context.has_rank(0) || !context.has_rank(1) || !context.has_rank(2)) {
    context.set_unranked(0, context.element(0));
    return context.set_unranked(1, state_type);
  }
  const Heads q = read_heads(context, 0, "q_num_heads"), k = read_heads(context, 1, "kv_num_heads"),
              v = read_heads(context, 2, "kv_num_heads");
  for (const Heads& other : {k, v}) {
    context.same(q.batch, other.batch, "the batch sizes of query, key and value");
    context.same(q.sequence, other.sequence, "the sequence lengths of query, key and value");
  }
  const Dim key_size = context.same(q.size, k.size, "the head sizes of query and key");
  const std::vector<Dim> state = {q.batch, kv_heads, key_size, v.size};
  if (context.has_input(3) && context.has_rank(3)) {
    context.require_rank(3, 4);
    for (std::size_t i = 0; i < 4; ++i)
      context.same(context.dim(3, i), state[i], "the shape of past_state and of the state");
  }
  for (std::size_t i : {4, 5}) {
    if (!context.has_input(i) || !context.has_rank(i)) continue;
    context.require_rank(i, 3);
    context.same(context.dim(i, 0), q.batch, "the batch sizes of query and " + at(i));
    context.same(context.dim(i, 1), q.sequence, "the sequence lengths of query and " + at(i));
    const Dim& last = context.dim(i, 2);
    const Dim full = i == 4 ? Dim(kv_heads) * key_size : Dim(1);
    // One or the other: the product of the differences is 0.
    context.same((last - Dim(kv_heads)) * (last - full), 0,
                 "0 and how far the last dimension of " + at(i) + " is from kv_num_heads, times how far from " +
                     full.to_string() + ",");
  }
  context.set_tensor(0, context.element(0), {q.batch, q.sequence, Dim(q_heads) * v.size});
  context.set_tensor(1, state_type, state);
}

}  // namespace

void add_attention_ops(OpTable& table) {
  table.push_back({"", "Attention", infer_attention, {}});
  table.push_back({"", "RotaryEmbedding", infer_rotary_embedding, {}});
  table.push_back({"", "LinearAttention", infer_linear_attention, {}});
}

}  // namespace sardonyx::ops
