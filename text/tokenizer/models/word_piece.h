#pragma once

#include <cstddef>
#include <string>

#include "text/tokenizer/models/model.h"
#include "text/tokenizer/models/vocabulary.h"
#include "text/tokenizer/trie.h"

namespace sardonyx::text {

/// Greedy longest match from the left; pieces after the first carry a prefix ("##"). A word that has no such cover, or more
/// than `max_input_chars_per_word` characters, is one unknown token.
class WordPiece : public Model {
 public:
  struct Options {
    std::string unk_token = "[UNK]";
    std::string continuing_subword_prefix = "##";
    std::size_t max_input_chars_per_word = 100;
  };

  WordPiece(Vocabulary vocabulary, Options options);

  std::string_view type() const override { return "WordPiece"; }
  void tokenize(std::string_view piece, std::uint32_t base, std::vector<ModelToken>& out) const override;
  std::optional<std::uint32_t> token_to_id(std::string_view token) const override { return vocabulary_.find_optional(token); }
  std::optional<std::string_view> id_to_token(std::uint32_t id) const override { return vocabulary_.token(id); }
  std::size_t vocab_size() const override { return vocabulary_.size(); }

 private:
  void unknown(std::string_view piece, std::uint32_t base, std::vector<ModelToken>& out) const;

  Vocabulary vocabulary_;
  Options options_;
  Trie first_, rest_;
  std::uint32_t unk_id_;
};

}  // namespace sardonyx::text
