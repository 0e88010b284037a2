#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "text/tokenizer/models/model.h"
#include "text/tokenizer/models/token_strings.h"
#include "text/tokenizer/trie.h"

namespace sardonyx::text {

/// Greedy longest match from the left; pieces after the first carry a prefix ("##"). A word that has no such cover, or
/// more than `max_input_chars_per_word` characters, is one unknown token.
class WordPiece : public Model {
 public:
  struct Options {
    std::string unk_token = "[UNK]";
    std::string continuing_subword_prefix = "##";
    std::size_t max_input_chars_per_word = 100;
  };

  /// The words with their ids; of equal words the last counts. Throws Error kInvalidModel where an id is out of bounds.
  WordPiece(std::span<const Trie::Entry> words, Options options);

  std::string_view type() const override { return "WordPiece"; }
  void tokenize(std::string_view piece, std::uint32_t base, std::vector<ModelToken>& out) const override;
  std::optional<std::uint32_t> token_to_id(std::string_view token) const override;
  std::optional<std::string_view> id_to_token(std::uint32_t id) const override { return strings_.get(id); }
  std::size_t vocab_size() const override { return words_.size(); }

 private:
  void unknown(std::string_view piece, std::uint32_t base, std::vector<ModelToken>& out) const;

  Options options_;
  TokenStrings strings_;
  Trie words_;
  std::uint32_t rest_;  ///< node of words_ after the prefix; Trie::kNone where no word has it
  std::uint32_t unk_id_;
};

}  // namespace sardonyx::text
