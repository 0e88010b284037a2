#include "text/tokenizer/processors/bert.h"

#include <utility>

#include "text/tokenizer/encoding_ops.h"
#include "text/tokenizer/processors/byte_level.h"

namespace sardonyx::text {

namespace {

/// The encoding between specials (null for none), as one sequence; the same for its overflowing pieces.
Encoding wrap(Encoding inner, std::uint32_t sequence, const SpecialPiece* before, const SpecialPiece& after,
              std::uint32_t type_id) {
  const bool with_tokens = inner.tokens.size() == inner.size();
  std::vector<Encoding> pieces = std::exchange(inner.overflowing, {});
  inner.sequence_ranges.clear();
  inner.special_tokens_mask.assign(inner.size(), 0);
  inner.attention_mask.assign(inner.size(), 1);
  Encoding result;
  if (before != nullptr) append_special(result, before->id, before->token, type_id, with_tokens);
  const auto begin = static_cast<std::uint32_t>(result.size());
  merge(result, inner);
  result.sequence_ranges = {{sequence, begin, static_cast<std::uint32_t>(result.size())}};
  append_special(result, after.id, after.token, type_id, with_tokens);
  for (Encoding& piece : pieces) {
    piece.overflowing.clear();
    result.overflowing.push_back(wrap(std::move(piece), sequence, before, after, type_id));
  }
  return result;
}

}  // namespace

std::vector<Encoding> BertProcessor::process(std::vector<Encoding> encodings, bool add_special_tokens) const {
  if (!add_special_tokens) return encodings;
  for (std::uint32_t i = 0; i < encodings.size(); ++i) {
    encodings[i] = wrap(std::move(encodings[i]), i == 0 ? 0 : 1, i == 0 ? &cls_[0] : nullptr, sep_[0], i == 0 ? 0 : 1);
  }
  return encodings;
}

std::optional<Frame> BertProcessor::frame(bool is_pair, bool add_special_tokens) const {
  Frame frame;
  if (add_special_tokens) frame.parts.push_back({0, 0, &cls_});
  frame.parts.push_back({0, 0, nullptr});
  if (add_special_tokens) frame.parts.push_back({0, 0, &sep_});
  if (is_pair) {
    frame.parts.push_back({1, 1, nullptr});
    if (add_special_tokens) frame.parts.push_back({0, 1, &sep_});
  }
  return frame;
}

std::vector<Encoding> RobertaProcessor::process(std::vector<Encoding> encodings, bool add_special_tokens) const {
  for (std::uint32_t i = 0; i < encodings.size(); ++i) {
    Encoding& encoding = encodings[i];
    if (trim_offsets_) {
      trim_offsets(encoding, add_prefix_space_);
      for (Encoding& piece : encoding.overflowing) trim_offsets(piece, add_prefix_space_);
    }
    set_type_ids(encoding, 0);
    if (!add_special_tokens) continue;
    for (Encoding& piece : encoding.overflowing) set_type_ids(piece, 0);
    encoding = wrap(std::move(encoding), i == 0 ? 0 : 1, i == 0 ? &cls_[0] : &sep_[0], sep_[0], 0);
  }
  return encodings;
}

std::optional<Frame> RobertaProcessor::frame(bool is_pair, bool add_special_tokens) const {
  Frame frame;
  frame.trims_offsets = trim_offsets_;
  frame.add_prefix_space = add_prefix_space_;
  if (add_special_tokens) frame.parts.push_back({0, 0, &cls_});
  frame.parts.push_back({0, 0, nullptr});
  if (add_special_tokens) frame.parts.push_back({0, 0, &sep_});
  if (is_pair) {
    if (add_special_tokens) frame.parts.push_back({0, 0, &sep_});
    frame.parts.push_back({1, 0, nullptr});
    if (add_special_tokens) frame.parts.push_back({0, 0, &sep_});
  }
  return frame;
}

}  // namespace sardonyx::text
