#include "text/tokenizer/models/bpe.h"

#include <algorithm>
#include <fmt/core.h>
#include <queue>
#include <utility>

#include "base/fail.h"
#include "text/tokenizer/byte_level.h"
#include "text/tokenizer/models/word_cache.h"
#include "text/tokenizer/utf8.h"

namespace sardonyx::text {

namespace {

constexpr std::string_view kMark = "\xE2\x96\x81";  // ▁
constexpr std::size_t kShortWord = 32;              ///< symbols up to which a scan beats a heap

std::uint32_t known(const Vocabulary& vocabulary, std::string_view token) {
  const std::uint32_t id = vocabulary.find(token);
  if (id == Vocabulary::kNone) {
    fail(ErrorCode::kInvalidModel, "tokenizer file: the merges need the token '{}', which is not in the vocabulary",
         token);
  }
  return id;
}

}  // namespace

Bpe::Bpe(Vocabulary vocabulary, const Merges& merges, Options options, std::span<const std::uint32_t> ranks)
    : vocabulary_(std::move(vocabulary)),
      options_(std::move(options)),
      merges_(merges.size()),
      symbols_(options_.symbols),
      unk_id_(options_.has_unk_token ? vocabulary_.find(options_.unk_token) : Vocabulary::kNone),
      owner_(WordCache::new_owner()) {
  std::string merged;
  for (std::uint32_t i = 0; i < merges.size(); ++i) {
    const auto& [left, right] = merges[i];
    const std::size_t prefix = std::min(options_.continuing_subword_prefix.size(), right.size());
    merged.assign(left);
    merged.append(right.substr(prefix));
    const std::uint32_t left_id = known(vocabulary_, left), right_id = known(vocabulary_, right);
    merges_.add(left_id, right_id, {ranks.empty() ? i : ranks[i], known(vocabulary_, merged)});
  }
  for (int byte = 0; byte < 256; ++byte) byte_fallback_[byte] = vocabulary_.find(fmt::format("<0x{:02X}>", byte));
  for (int c = 0; c < 128; ++c) {
    const auto character = static_cast<char>(c);
    ascii_ids_[c] = vocabulary_.find({&character, 1});
  }
  options_.symbols.clear();  // views of what need not live on
  find_word_borders();
}

/// SentencePiece-like vocabularies never merge across the place before a ▁, unless another ▁ stands there.
void Bpe::find_word_borders() {
  if (!options_.continuing_subword_prefix.empty() || !options_.end_of_word_suffix.empty()) return;
  if (vocabulary_.find(kMark) == Vocabulary::kNone || options_.ignore_merges) return;
  splits_at_marks_ = true;
  vocabulary_.for_each([&](std::string_view token, std::uint32_t) {
    for (std::size_t at = token.find(kMark, 1); at != std::string_view::npos; at = token.find(kMark, at + 1)) {
      if (!token.substr(0, at).ends_with(kMark)) splits_at_marks_ = false;
    }
  });
}

bool Bpe::read_bytes() {
  if (options_.byte_fallback) return false;
  for (const bool continues : {false, true}) {
    for (const bool last : {false, true}) {
      for (int byte = 0; byte < 256; ++byte) {
        std::string token = continues ? options_.continuing_subword_prefix : std::string();
        token += byte_level_utf8(static_cast<unsigned char>(byte));
        if (last) token += options_.end_of_word_suffix;
        const std::uint32_t id = vocabulary_.find(token);
        if (id == Vocabulary::kNone) return false;
        byte_ids_[continues][last][byte] = id;
      }
    }
  }
  if (options_.ignore_merges) {
    vocabulary_.for_each([&](std::string_view token, std::uint32_t id) {
      if (const auto bytes = bytes_of_byte_level(token)) whole_bytes_.add(*bytes, id);
    });
  }
  splits_at_marks_ = false;
  reads_bytes_ = true;
  return true;
}

void Bpe::check_unk() const {
  if (unk_id_ == Vocabulary::kNone) {
    fail(ErrorCode::kInvalidModel,
         "the text has an unknown character, and the unknown token '{}' is not in the vocabulary", options_.unk_token);
  }
}

bool Bpe::append_fallback(std::string_view character, std::vector<Symbol>& symbols) const {
  for (char c : character) {
    if (byte_fallback_[static_cast<unsigned char>(c)] == Vocabulary::kNone) return false;
  }
  for (char c : character) symbols.push_back({byte_fallback_[static_cast<unsigned char>(c)], 1, 0, 0});
  return true;
}

void Bpe::symbols_of(std::string_view piece, std::vector<Symbol>& symbols) const {
  std::uint32_t unknown_length = 0;  // of the unknown token that is still open
  std::string affixed;
  for (std::size_t i = 0; i < piece.size();) {
    const std::size_t width = utf8_length(static_cast<unsigned char>(piece[i]));
    std::string_view character = piece.substr(i, width);
    const bool needs_prefix = i > 0 && !options_.continuing_subword_prefix.empty();
    const bool needs_suffix = i + width == piece.size() && !options_.end_of_word_suffix.empty();
    if (needs_prefix || needs_suffix) {
      affixed = needs_prefix ? options_.continuing_subword_prefix : std::string();
      affixed += character;
      if (needs_suffix) affixed += options_.end_of_word_suffix;
      character = affixed;
    }
    i += width;
    const auto length = static_cast<std::uint32_t>(width);
    const bool is_ascii = character.size() == 1;
    const std::uint32_t id =
        is_ascii ? ascii_ids_[static_cast<unsigned char>(character[0])] : vocabulary_.find(character);
    if (id != Vocabulary::kNone) {
      if (unknown_length > 0) symbols.push_back({unk_id_, std::exchange(unknown_length, 0), 0, 0});
      symbols.push_back({id, length, 0, 0});
      continue;
    }
    // As the reference has it, an open unknown token stays open while bytes are written.
    if (options_.byte_fallback && append_fallback(character, symbols)) continue;
    if (!options_.has_unk_token) continue;
    check_unk();
    if (unknown_length > 0 && !options_.fuse_unk) symbols.push_back({unk_id_, std::exchange(unknown_length, 0), 0, 0});
    unknown_length += length;
  }
  if (unknown_length > 0) symbols.push_back({unk_id_, unknown_length, 0, 0});
}

void Bpe::symbols_of_bytes(std::string_view piece, std::vector<Symbol>& symbols) const {
  for (std::size_t i = 0; i < piece.size(); ++i) {
    symbols.push_back({byte_ids_[i > 0][i + 1 == piece.size()][static_cast<unsigned char>(piece[i])], 1, 0, 0});
  }
}

void Bpe::merge_short(std::vector<Symbol>& symbols) const {
  // The rank of each pair above its place: the least number is the leftmost pair of the lowest rank.
  std::uint64_t pairs[kShortWord];
  std::uint32_t merged[kShortWord];
  const auto look_up = [&](std::size_t i) {
    const MergeTable::Merge merge = merges_.find(symbols[i].id, symbols[i + 1].id);
    pairs[i] = std::uint64_t{merge.rank} << 32 | i;
    merged[i] = merge.id;
  };
  std::size_t count = symbols.size();
  for (std::size_t i = 0; i + 1 < count; ++i) look_up(i);
  while (count > 1) {
    std::uint64_t least = pairs[0];
    for (std::size_t i = 1; i + 1 < count; ++i) least = std::min(least, pairs[i]);
    if (least >> 32 == MergeTable::kNone) break;
    const auto best = static_cast<std::size_t>(least & 0xFFFFFFFF);
    symbols[best].id = merged[best];
    symbols[best].length += symbols[best + 1].length;
    --count;
    for (std::size_t i = best + 1; i < count; ++i) symbols[i] = symbols[i + 1];
    for (std::size_t i = best + 1; i < count; ++i) {
      pairs[i - 1] = pairs[i] - 1;  // one place to the left
      merged[i - 1] = merged[i];
    }
    if (best > 0) look_up(best - 1);
    if (best + 1 < count) look_up(best);
  }
  symbols.resize(count);
}

void Bpe::merge_long(std::vector<Symbol>& symbols) const {
  struct Candidate {
    std::uint32_t rank, at, id;
    bool operator>(const Candidate& other) const { return rank != other.rank ? rank > other.rank : at > other.at; }
  };
  std::vector<Candidate> storage;
  storage.reserve(symbols.size());
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    symbols[i].previous = static_cast<std::int32_t>(i) - 1;
    symbols[i].next = i + 1 < symbols.size() ? static_cast<std::int32_t>(i) + 1 : -1;
    if (i + 1 == symbols.size()) break;
    const auto merge = merges_.find(symbols[i].id, symbols[i + 1].id);
    if (merge.rank != MergeTable::kNone) storage.push_back({merge.rank, static_cast<std::uint32_t>(i), merge.id});
  }
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue(std::greater<>(), std::move(storage));
  const auto offer = [&](std::int32_t left, std::int32_t right) {
    if (left < 0 || right < 0) return;
    const auto merge = merges_.find(symbols[left].id, symbols[right].id);
    if (merge.rank != MergeTable::kNone) queue.push({merge.rank, static_cast<std::uint32_t>(left), merge.id});
  };
  while (!queue.empty()) {
    const Candidate top = queue.top();
    queue.pop();
    Symbol& left = symbols[top.at];
    if (left.length == 0 || left.next < 0) continue;
    Symbol& right = symbols[left.next];
    if (merges_.find(left.id, right.id).id != top.id) continue;
    left.id = top.id;
    left.length += right.length;
    left.next = right.next;
    right.length = 0;
    if (right.next >= 0) symbols[right.next].previous = static_cast<std::int32_t>(top.at);
    offer(left.previous, static_cast<std::int32_t>(top.at));
    offer(static_cast<std::int32_t>(top.at), left.next);
  }
  std::erase_if(symbols, [](const Symbol& symbol) { return symbol.length == 0; });
}

void Bpe::tokenize_part(std::string_view piece, std::uint32_t base, std::vector<ModelToken>& out) const {
  const bool cacheable = WordCache::fits(piece);
  WordCache& cache = WordCache::of_thread();
  if (cacheable && cache.find(owner_, piece, base, out)) return;
  if (options_.ignore_merges) {
    const std::uint32_t id = (reads_bytes_ ? whole_bytes_ : vocabulary_).find(piece);
    if (id != Vocabulary::kNone) {
      out.push_back({id, base, base + static_cast<std::uint32_t>(piece.size()), 0, false});
      return;
    }
  }
  thread_local std::vector<Symbol> symbols;
  symbols.clear();
  reads_bytes_ ? symbols_of_bytes(piece, symbols) : symbols_of(piece, symbols);
  symbols.size() <= kShortWord ? merge_short(symbols) : merge_long(symbols);
  const std::size_t first = out.size();
  std::uint32_t begin = base;
  for (const Symbol& symbol : symbols) {
    out.push_back({symbol.id, begin, begin + symbol.length, 0, false});
    begin += symbol.length;
  }
  if (cacheable) cache.store(owner_, piece, base, out, first);
  if (symbols.capacity() > kShortWord * 1024) std::vector<Symbol>().swap(symbols);
}

void Bpe::tokenize(std::string_view piece, std::uint32_t base, std::vector<ModelToken>& out) const {
  if (symbols_.empty()) return tokenize_between_symbols(piece, base, out);
  std::size_t begin = 0;
  for (std::size_t at = 0; at < piece.size();) {
    const Trie::Match symbol = symbols_.longest_prefix(piece.substr(at));
    if (symbol.value == Trie::kNone) {
      at += utf8_length(static_cast<unsigned char>(piece[at]));
      continue;
    }
    const std::uint32_t place = base + static_cast<std::uint32_t>(at);
    if (begin < at)
      tokenize_between_symbols(piece.substr(begin, at - begin), base + static_cast<std::uint32_t>(begin), out);
    out.push_back({symbol.value, place, place + static_cast<std::uint32_t>(symbol.length), 0, false});
    begin = at += symbol.length;
  }
  if (begin < piece.size())
    tokenize_between_symbols(piece.substr(begin), base + static_cast<std::uint32_t>(begin), out);
}

void Bpe::tokenize_between_symbols(std::string_view piece, std::uint32_t base, std::vector<ModelToken>& out) const {
  if (!splits_at_marks_) {
    tokenize_part(piece, base, out);
    return;
  }
  // A part begins where the tokens before it end: that is earlier than in the text where unknown characters were
  // dropped.
  const auto tokenize_next = [&](std::string_view part) {
    const std::size_t count = out.size();
    tokenize_part(part, base, out);
    if (out.size() > count) base = out.back().end;
  };
  std::size_t begin = 0;
  for (std::size_t at = piece.find(kMark, 1); at != std::string_view::npos; at = piece.find(kMark, at + kMark.size())) {
    if (piece.substr(0, at).ends_with(kMark)) continue;
    tokenize_next(piece.substr(begin, at - begin));
    begin = at;
  }
  tokenize_next(piece.substr(begin));
}

}  // namespace sardonyx::text
