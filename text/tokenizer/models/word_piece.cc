#include "text/tokenizer/models/word_piece.h"

#include <utility>

#include "base/fail.h"
#include "text/tokenizer/utf8.h"

namespace sardonyx::text {

WordPiece::WordPiece(std::span<const Trie::Entry> words, Options options)
    : options_(std::move(options)),
      words_(words, options_.continuing_subword_prefix),
      rest_(words_.node_at(options_.continuing_subword_prefix)),
      unk_id_(words_.find(options_.unk_token)) {
  std::size_t bytes = 0;
  for (const auto& [word, id] : words) bytes += word.size();
  strings_.reserve(words.size(), bytes);
  const bool has_repeats = words_.size() < words.size();
  for (const auto& [word, id] : words) {
    if (!has_repeats || words_.find(word) == id) strings_.set(id, word);
  }
}

std::optional<std::uint32_t> WordPiece::token_to_id(std::string_view token) const {
  const std::uint32_t id = words_.find(token);
  return id == Trie::kNone ? std::nullopt : std::optional(id);
}

void WordPiece::unknown(std::string_view piece, std::uint32_t base, std::vector<ModelToken>& out) const {
  if (unk_id_ == Trie::kNone) {
    fail(ErrorCode::kInvalidModel,
         "the text has a word that WordPiece cannot cover, and the unknown token '{}' is not in the vocabulary",
         options_.unk_token);
  }
  out.push_back({unk_id_, base, base + static_cast<std::uint32_t>(piece.size()), 0, false});
}

void WordPiece::tokenize(std::string_view piece, std::uint32_t base, std::vector<ModelToken>& out) const {
  // Only a piece with that many bytes can have that many characters.
  if (piece.size() > options_.max_input_chars_per_word && utf8_count(piece) > options_.max_input_chars_per_word) {
    unknown(piece, base, out);
    return;
  }
  const std::size_t mark = out.size();
  std::size_t at = 0;
  while (at < piece.size()) {
    Trie::Match match;
    if (at == 0) {
      match = words_.longest_prefix(piece);
    } else if (rest_ != Trie::kNone) {
      match = words_.longest_prefix(piece.substr(at), rest_);
    }
    if (match.value == Trie::kNone) {
      out.resize(mark);
      unknown(piece, base, out);
      return;
    }
    const std::uint32_t begin = base + static_cast<std::uint32_t>(at);
    out.push_back({match.value, begin, begin + static_cast<std::uint32_t>(match.length), 0, false});
    at += match.length;
  }
}

}  // namespace sardonyx::text
