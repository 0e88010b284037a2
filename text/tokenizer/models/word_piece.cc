#include "text/tokenizer/models/word_piece.h"

#include <utility>

#include "base/fail.h"
#include "text/tokenizer/utf8.h"

namespace sardonyx::text {

WordPiece::WordPiece(Vocabulary vocabulary, Options options)
    : vocabulary_(std::move(vocabulary)), options_(std::move(options)) {
  const std::string& prefix = options_.continuing_subword_prefix;
  std::vector<Trie::Entry> first, rest;
  first.reserve(vocabulary_.size());
  rest.reserve(vocabulary_.size());
  vocabulary_.for_each([&](std::string_view token, std::uint32_t id) { first.emplace_back(token, id); });
  first = Trie::sorted(std::move(first));
  for (const auto& [token, id] : first) {
    if (token.starts_with(prefix)) rest.emplace_back(token.substr(prefix.size()), id);  // keeps the order
  }
  first_ = Trie(first);
  rest_ = Trie(rest);
  unk_id_ = vocabulary_.find(options_.unk_token);
}

void WordPiece::unknown(std::string_view piece, std::uint32_t base, std::vector<ModelToken>& out) const {
  if (unk_id_ == Vocabulary::kNone) {
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
    const Trie::Match match = (at == 0 ? first_ : rest_).longest_prefix(piece.substr(at));
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
