#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "text/tokenizer/added_vocabulary.h"
#include "text/tokenizer/encoding_ops.h"
#include "text/tokenizer/load/parts.h"
#include "text/tokenizer/tokenizer.h"

namespace sardonyx::text {

/// The tokens of one input text before they are written to an Encoding.
struct TokenizedText {
  /// One text, or one word of a text that came split.
  struct Word {
    std::string_view original;
    PreTokenized pre_tokenized;
    std::vector<ModelToken> tokens;
  };
  std::vector<Word> words;
  bool is_split = false;

  std::size_t size() const;
};

struct Tokenizer::Impl {
  TokenizerParts parts;
  AddedVocabulary added;
  TokenizerConfig config;

  TokenizedText tokenize(const TextInput& input) const;
  Encoding encode(const EncodeInput& input, const EncodeOptions& options) const;

  const std::optional<Truncation>& truncation_for(const EncodeOptions& options) const;
  const std::optional<Padding>& padding_for(const EncodeOptions& options) const;

 private:
  void tokenize_word(std::string_view text, TokenizedText::Word& out) const;
  std::optional<Frame> frame_for(bool is_pair, bool add_special_tokens) const;
  void write(const TokenizedText& text, std::size_t begin, std::size_t end, std::uint32_t type_id, const Frame& frame,
             bool with_tokens, Encoding& out) const;
  Encoding assemble(const Frame& frame, const TokenizedText* texts[2], const Lengths lengths, Direction direction,
                    const EncodeOptions& options) const;
  Encoding process(const TokenizedText& first, const TokenizedText* second, const std::optional<Truncation>& truncation,
                   const EncodeOptions& options) const;
};

}  // namespace sardonyx::text
