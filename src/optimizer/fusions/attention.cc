// Attention as exports spell it:
//
//   MatMul(q, kᵀ) → ·scale → +mask → Softmax → [Where(IsNaN, 0, ·)] → MatMul(·, v) → [Transpose → Reshape]
//
// with q and kᵀ possibly scaled by √scale each. Where q, k, v and the result are [batch, rows, heads · size] on the
// outside, the Reshapes and Transposes around go too, and nothing is copied.
#include <cmath>
#include <optional>

#include "optimizer/fusion.h"

namespace sardonyx::optimizer {
namespace {

using graph::Dim;
using graph::kNoValue;
using graph::Node;
using graph::ValueId;
using graph::ValueType;

constexpr std::size_t kRank = 4;  // [batch, heads, rows, size]

/// One of query, key and value: [batch, heads, rows, size], and where it is a mere view of one, [batch, rows, heads ·
/// size].
struct Heads {
  ValueId split = kNoValue;   ///< kNoValue where no value has that layout
  ValueId packed = kNoValue;  ///< kNoValue where it isn't such a view
  std::int64_t count = 0;     ///< heads, where packed is known
};

struct Match {
  Heads query, key, value;
  ValueId mask = kNoValue;
  float scale = 1;
  bool zero_masked_rows = false;
  FusionMatch fusion;
};

bool has_perm(const Node& node, std::initializer_list<std::int64_t> perm) {
  const std::vector<std::int64_t>* given = node.attributes.ints("perm");
  return node.is("Transpose") && given && std::equal(given->begin(), given->end(), perm.begin(), perm.end());
}

bool is_heads_type(const ValueType& type) {
  return type.element == ElementType::kFloat32 && type.has_rank && type.rank() == kRank;
}

class Matcher {
 public:
  Matcher(const FusionContext& context, const Node& softmax) : context_(context), softmax_(softmax) {}

  std::optional<FusionMatch> match() {
    const ValueType& scores = context_.type(softmax_.inputs[0]);
    const std::int64_t axis = softmax_.attributes.get_int("axis", -1);
    if (!is_heads_type(scores) || (axis != -1 && axis != static_cast<std::int64_t>(kRank) - 1)) return std::nullopt;
    if (!match_scores() || !match_result() || !same_batch_and_heads()) return std::nullopt;
    return finish();
  }

 private:
  const ValueType& type(ValueId value) const { return context_.type(value); }
  void take(const Node& node) { found_.fusion.nodes.push_back(node.id); }

  /// Takes value · c or value / c by one constant, where that changes no shape; returns what is scaled.
  ValueId take_scale(ValueId value) {
    const Node* node = context_.graph().producer(value);
    if (!node || !(node->is("Mul") || node->is("Div")) || !context_.only_reader(value)) return value;
    for (std::size_t i = 0; i < (node->is("Div") ? 1U : 2U); ++i) {
      const Tensor* factor = context_.constant(node->inputs[1 - i]);
      if (!factor || factor->type() != ElementType::kFloat32 || factor->num_elements() != 1) continue;
      const float c = *factor->data<float>();
      if (!std::isfinite(c) || c == 0 || !graph::same_type(type(node->inputs[i]), type(value))) continue;
      found_.scale = node->is("Div") ? found_.scale / c : found_.scale * c;
      take(*node);
      return node->inputs[i];
    }
    return value;
  }

  /// From the softmax up: mask, scale, q and k.
  bool match_scores() {
    const ValueId scores = softmax_.inputs[0];
    const Node* add = context_.made_by(scores, "Add");
    if (!context_.only_reader(scores)) return false;
    if (!add) return match_product(scores);
    for (std::size_t i = 0; i < 2; ++i) {
      if (!graph::same_type(type(add->inputs[i]), type(scores)) || !context_.only_reader(add->inputs[i])) continue;
      const Match before = found_;
      take(*add);
      found_.mask = add->inputs[1 - i];
      if (is_mask(found_.mask) && match_product(add->inputs[i])) return true;
      found_ = before;
    }
    return false;
  }

  bool match_product(ValueId value) {
    value = take_scale(value);
    const Node* product = context_.made_by(value, "MatMul");
    if (!product || !context_.only_reader(value)) return false;
    take(*product);
    if (!is_heads_type(type(product->inputs[0])) || !is_heads_type(type(product->inputs[1]))) return false;
    found_.query = heads_of(take_scale(product->inputs[0]));
    const std::optional<Heads> key = untransposed(take_scale(product->inputs[1]));
    if (!key) return false;
    found_.key = *key;
    return true;
  }

  /// A mask that broadcasts to the scores [batch, heads, queries, keys], and isn't shorter along the keys.
  bool is_mask(ValueId value) const {
    const ValueType& mask = type(value);
    const ValueType& scores = type(softmax_.inputs[0]);
    if (mask.element != ElementType::kFloat32 || !mask.has_rank || mask.rank() < 1 || mask.rank() > kRank) return false;
    for (std::size_t i = 0; i < mask.rank(); ++i) {
      if (!mask.dims[i].is(1) && !(mask.dims[i] == scores.dims[kRank - mask.rank() + i])) return false;
    }
    return true;
  }

  /// [batch, heads, rows, size] as it is, or seen through Reshape → Transpose from [batch, rows, heads · size].
  Heads heads_of(ValueId value) const {
    Heads heads{.split = value};
    const Node* transpose = context_.graph().producer(value);
    if (transpose && has_perm(*transpose, {0, 2, 1, 3})) find_packed(transpose->inputs[0], heads);
    return heads;
  }

  /// `rows`: [batch, rows, heads, size]; sets heads.packed where that is a Reshape of [batch, rows, heads · size].
  void find_packed(ValueId rows, Heads& heads) const {
    const Node* reshape = context_.made_by(rows, "Reshape");
    if (!reshape) return;
    const ValueType &out = type(rows), &in = type(reshape->inputs[0]);
    if (is_split(in, out)) {
      heads.packed = reshape->inputs[0];
      heads.count = out.dims[2].constant();
    }
  }

  /// Whether `split` [batch, rows, heads, size] is `packed` [batch, rows, heads · size] with its last dimension cut.
  static bool is_split(const ValueType& packed, const ValueType& split) {
    if (!packed.has_rank || packed.rank() != kRank - 1 || !split.has_rank || split.rank() != kRank) return false;
    if (!split.dims[2].is_constant() || !split.dims[3].is_constant()) return false;
    return packed.dims[0] == split.dims[0] && packed.dims[1] == split.dims[1] &&
           packed.dims[2] == split.dims[2] * split.dims[3];
  }

  /// The key whose transpose [batch, heads, size, rows] the value is.
  std::optional<Heads> untransposed(ValueId value) const {
    const Node* node = context_.graph().producer(value);
    if (!node) return std::nullopt;
    if (has_perm(*node, {0, 1, 3, 2})) return heads_of(node->inputs[0]);
    if (has_perm(*node, {0, 2, 3, 1})) {
      Heads heads;
      find_packed(node->inputs[0], heads);
      if (heads.packed != kNoValue) return heads;
    }
    if (node->is("Reshape")) return untransposed_by_three(*node);
    return std::nullopt;
  }

  /// Reshape to [batch · heads, rows, size] → Transpose → Reshape back, as torch.export spells it.
  std::optional<Heads> untransposed_by_three(const Node& last) const {
    const Node* transpose = context_.graph().producer(last.inputs[0]);
    if (!transpose || !has_perm(*transpose, {0, 2, 1})) return std::nullopt;
    const Node* first = context_.made_by(transpose->inputs[0], "Reshape");
    if (!first) return std::nullopt;
    const ValueType &key = type(first->inputs[0]), &joined = type(first->outputs[0]), &out = type(last.outputs[0]);
    if (!is_heads_type(key) || !joined.has_rank || joined.rank() != kRank - 1) return std::nullopt;
    if (!(joined.dims[1] == key.dims[2] && joined.dims[2] == key.dims[3])) return std::nullopt;
    const std::size_t swapped[] = {0, 1, 3, 2};
    for (std::size_t i = 0; i < kRank; ++i) {
      if (!(out.dims[i] == key.dims[swapped[i]])) return std::nullopt;
    }
    return heads_of(first->inputs[0]);
  }

  /// From the softmax down: the rows without any key, and the product with v.
  bool match_result() {
    take(softmax_);
    ValueId weights = softmax_.outputs[0];
    if (const Node* where = zeroed_where(weights)) {
      found_.zero_masked_rows = true;
      weights = where->outputs[0];
    }
    const Node* product = context_.only_reader(weights);
    if (!product || !product->is("MatMul") || product->inputs[0] != weights || product->inputs[1] == weights)
      return false;
    if (!is_heads_type(type(product->inputs[1])) || !is_heads_type(type(product->outputs[0]))) return false;
    found_.value = heads_of(product->inputs[1]);
    take(*product);
    found_.fusion.fused.outputs = product->outputs;
    return true;
  }

  /// Where(IsNaN(weights), 0, weights) where these two are the only readers; both are taken.
  const Node* zeroed_where(ValueId weights) {
    const auto& readers = context_.readers(weights);
    if (readers.size() != 2) return nullptr;
    for (const graph::Use& use : readers) {
      if (use.node == graph::kNoNode || !context_.graph().node(use.node).is("IsNaN")) continue;
      const Node& is_nan = context_.graph().node(use.node);
      const Node* where = context_.only_reader(is_nan.outputs[0]);
      if (!where || !where->is("Where") || where->inputs[0] != is_nan.outputs[0]) return nullptr;
      if (where->inputs[2] != weights || !context_.is_scalar(where->inputs[1], 0)) return nullptr;
      if (!graph::same_type(type(where->outputs[0]), type(weights))) return nullptr;
      take(is_nan);
      take(*where);
      return where;
    }
    return nullptr;
  }

  /// MatMul would broadcast these; attention doesn't.
  bool same_batch_and_heads() const {
    const ValueType &scores = type(softmax_.inputs[0]), &out = type(found_.fusion.fused.outputs[0]);
    for (const Heads* heads : {&found_.query, &found_.key, &found_.value}) {
      if (heads->split == kNoValue) continue;
      const ValueType& one = type(heads->split);
      if (!(one.dims[0] == scores.dims[0] && one.dims[1] == scores.dims[1])) return false;
    }
    if (found_.key.split == kNoValue && !(type(found_.key.packed).dims[0] == scores.dims[0])) return false;
    return out.dims[0] == scores.dims[0] && out.dims[1] == scores.dims[1];
  }

  /// Where the result goes on as [batch, rows, heads · size]: takes the Transpose and the Reshape that do so.
  bool take_packing() {
    const Node* transpose = context_.only_reader(found_.fusion.fused.outputs[0]);
    if (!transpose || !has_perm(*transpose, {0, 2, 1, 3})) return false;
    const Node* reshape = context_.only_reader(transpose->outputs[0]);
    if (!reshape || !reshape->is("Reshape") || reshape->inputs[0] != transpose->outputs[0]) return false;
    if (!is_split(type(reshape->outputs[0]), type(transpose->outputs[0]))) return false;
    take(*transpose);
    take(*reshape);
    found_.fusion.fused.outputs = reshape->outputs;
    return true;
  }

  std::optional<FusionMatch> finish() {
    const Heads *query = &found_.query, *key = &found_.key, *value = &found_.value;
    const bool packed = query->packed != kNoValue && key->packed != kNoValue && value->packed != kNoValue &&
                        query->count == key->count && query->count == value->count && take_packing();
    if (!packed && key->split == kNoValue) return std::nullopt;
    Node& fused = found_.fusion.fused;
    fused.domain = "ai.sardonyx";
    fused.op_type = "FusedAttention";
    for (const Heads* heads : {query, key, value}) fused.inputs.push_back(packed ? heads->packed : heads->split);
    if (found_.mask != kNoValue) fused.inputs.push_back(found_.mask);
    if (packed) {
      fused.attributes.set("q_num_heads", query->count);
      fused.attributes.set("kv_num_heads", key->count);
    }
    fused.attributes.set("scale", found_.scale);
    if (found_.zero_masked_rows) fused.attributes.set("zero_masked_rows", std::int64_t{1});
    return std::move(found_.fusion);
  }

  const FusionContext& context_;
  const Node& softmax_;
  Match found_;
};

}  // namespace

std::optional<FusionMatch> match_attention(const FusionContext& context, const Node& anchor) {
  if (!anchor.is("Softmax")) return std::nullopt;
  return Matcher(context, anchor).match();
}

}  // namespace sardonyx::optimizer
