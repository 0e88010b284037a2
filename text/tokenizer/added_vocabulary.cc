#include "text/tokenizer/added_vocabulary.h"

#include <algorithm>
#include <utility>

#include "base/fail.h"
#include "text/tokenizer/unicode/properties.h"
#include "text/tokenizer/utf8.h"

namespace sardonyx::text {

void AddedVocabulary::Matcher::build(const std::vector<Trie::Entry>& entries) {
  trie = Trie(entries);
  std::fill(std::begin(first_bytes), std::end(first_bytes), false);
  empty_token = Split::kNoToken;
  for (const Trie::Entry& entry : entries) {
    if (entry.first.empty()) {
      empty_token = entry.second;
    } else {
      first_bytes[static_cast<unsigned char>(entry.first[0])] = true;
    }
  }
}

std::optional<Split> AddedVocabulary::Matcher::find(std::string_view text, std::size_t from,
                                                    std::size_t last_end) const {
  for (std::size_t at = from; at < text.size(); ++at) {
    const auto place = static_cast<std::uint32_t>(at);
    if (first_bytes[static_cast<unsigned char>(text[at])]) {
      const Trie::Match match = trie.longest_prefix(text.substr(at));
      if (match.value != Trie::kNone)
        return Split{place, place + static_cast<std::uint32_t>(match.length), match.value};
    }
    if (empty_token != Split::kNoToken && at != last_end && !is_utf8_continuation(text[at])) {
      return Split{place, place, empty_token};
    }
  }
  if (empty_token == Split::kNoToken || from > text.size() || last_end == text.size()) return std::nullopt;
  return Split{static_cast<std::uint32_t>(text.size()), static_cast<std::uint32_t>(text.size()), empty_token};
}

std::uint32_t AddedVocabulary::next_id(const Model& model) const {
  const auto size = static_cast<std::uint32_t>(model.vocab_size());
  if (by_id_.empty()) return size;
  const std::uint32_t top = by_id_.rbegin()->first;
  return top >= size || size == 0 ? top + 1 : size;
}

std::size_t AddedVocabulary::add(std::span<const AddedToken> tokens, const Model& model, const Normalizer* normalizer) {
  std::size_t added = 0;
  std::uint32_t next = next_id(model);
  for (const AddedToken& token : tokens) {
    if (token.content.empty()) continue;
    const auto known = ids_.find(token.content);
    if (known != ids_.end()) {
      const auto same = by_id_.find(known->second);
      if (same != by_id_.end() && same->second == token) continue;
    }
    ++added;
    const std::optional<std::uint32_t> in_model =
        known == ids_.end() ? model.token_to_id(token.content) : known->second;
    const std::uint32_t id = in_model ? *in_model : next++;
    if (token.normalized && normalizer != nullptr) {
      AlignedText text(token.content, 0);
      normalizer->normalize(text);
      if (text.text() != token.content) normalized_[id] = std::string(text.text());
    }
    ids_[token.content] = id;
    if (token.special) specials_.insert(token.content);
    by_id_[id] = token;
  }
  rebuild();
  return added;
}

void AddedVocabulary::rebuild() {
  std::vector<Trie::Entry> raw, normalized;
  for (const auto& [id, token] : by_id_) {
    if (!token.normalized) {
      raw.emplace_back(token.content, id);
      continue;
    }
    const auto form = normalized_.find(id);
    normalized.emplace_back(form == normalized_.end() ? token.content : form->second, id);
  }
  raw_.build(raw);
  normalized_matcher_.build(normalized);
}

namespace {

/// A token may be found in the whitespace that another one took. Whitespace tokens that take whitespace could so cover
/// each character of a long run as many times as it is long.
void check_overlap(std::size_t overlap, std::size_t text_size) {
  constexpr std::size_t kFew = std::size_t{1} << 16;
  if (overlap <= std::max(kFew, text_size)) return;
  fail(ErrorCode::kResourceExhausted, "added tokens cover the whitespace of the text again and again ({} bytes by now)",
       overlap);
}

}  // namespace

/// Applies the token's own conditions to a match, widening it over whitespace; `covered` is where the last match ended,
/// and `spaces` what was found behind one.
bool AddedVocabulary::accept(Split& match, std::string_view text, std::uint32_t covered, Spaces& spaces) const {
  const AddedToken& token = by_id_.at(match.token);
  if (encode_special_tokens_ && specials_.count(token.content) != 0) return false;
  if (token.single_word) {
    const bool word_before = match.begin > 0 && has_flag(utf8_decode(&text[utf8_previous(text, match.begin)]), kWord);
    const bool word_after = match.end < text.size() && has_flag(utf8_decode(&text[match.end]), kWord);
    if (word_before || word_after) return false;
  }
  if (token.lstrip) {
    std::size_t begin = match.begin;
    while (begin > covered) {
      const std::size_t before = utf8_previous(text, begin);
      if (!has_flag(utf8_decode(&text[before]), kWhitespace)) break;
      begin = before;
    }
    match.begin = std::max(static_cast<std::uint32_t>(begin), covered);
  }
  if (token.rstrip) {
    if (match.end < spaces.begin || match.end > spaces.end) spaces = {match.end, match.end};
    while (spaces.end < text.size() && has_flag(utf8_decode(&text[spaces.end]), kWhitespace)) {
      spaces.end += static_cast<std::uint32_t>(utf8_length(static_cast<unsigned char>(text[spaces.end])));
    }
    match.end = spaces.end;
  }
  return true;
}

void AddedVocabulary::find_all(const Matcher& matcher, std::string_view text, std::uint32_t base,
                               std::vector<Split>& out) const {
  std::uint32_t covered = 0;
  const auto end = static_cast<std::uint32_t>(text.size());
  if (!matcher.trie.empty()) {
    std::size_t from = 0, last_end = std::string_view::npos, overlap = 0;
    Spaces spaces;
    while (std::optional<Split> match = matcher.find(text, from, last_end)) {
      from = last_end = match->end;
      if (!accept(*match, text, covered, spaces)) continue;
      if (covered < match->begin) out.push_back({base + covered, base + match->begin, Split::kNoToken});
      if (match->begin < covered) overlap += std::min(covered, match->end) - match->begin;
      check_overlap(overlap, text.size());
      out.push_back({base + match->begin, base + match->end, match->token});
      covered = match->end;
    }
  }
  if (covered != end) out.push_back({base + covered, base + end, Split::kNoToken});
}

PreTokenized AddedVocabulary::extract(std::string_view text, const Normalizer* normalizer) const {
  std::vector<Split> pieces;
  find_all(raw_, text, 0, pieces);
  PreTokenized result;
  for (const Split& piece : pieces) {
    AlignedText part(text.substr(piece.begin, piece.end - piece.begin), piece.begin);
    const auto base = static_cast<std::uint32_t>(result.text.size());
    if (piece.is_token()) {
      result.splits.push_back({base, base + piece.end - piece.begin, piece.token});
    } else {
      if (normalizer != nullptr) normalizer->normalize(part);
      find_all(normalized_matcher_, part.text(), base, result.splits);
    }
    result.text.append(std::move(part));
  }
  std::erase_if(result.splits, [](const Split& split) { return split.begin == split.end; });
  return result;
}

std::optional<std::uint32_t> AddedVocabulary::token_to_id(std::string_view token) const {
  const auto found = ids_.find(std::string(token));
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

const std::string* AddedVocabulary::id_to_token(std::uint32_t id) const {
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) return nullptr;
  const auto form = normalized_.find(id);
  return form == normalized_.end() ? &found->second.content : &form->second;
}

std::size_t AddedVocabulary::size_beyond(const Model& model) const {
  std::size_t count = 0;
  for (const auto& [content, id] : ids_) count += !model.token_to_id(content).has_value();
  return count;
}

}  // namespace sardonyx::text
