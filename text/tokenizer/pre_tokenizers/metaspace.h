#pragma once

#include <string>

#include "text/tokenizer/pre_tokenizers/pre_tokenizer.h"

namespace sardonyx::text {

/// Where a mark is put before a piece that does not begin with one: before all, before that at the beginning of the
/// text, before none. SentencePiece itself puts one before the normalized text whatever it begins with.
enum class PrependScheme { kAlways, kFirst, kNever, kSentencePiece };

/// Writes spaces as a visible character (▁), puts one before the text as the scheme says, and cuts before each
/// (`split`).
class MetaspacePreTokenizer : public PreTokenizer {
 public:
  MetaspacePreTokenizer(std::string replacement, PrependScheme scheme, bool split)
      : replacement_(std::move(replacement)), scheme_(scheme), split_(split) {}
  void pre_tokenize(PreTokenized& sequence) const override;

 private:
  bool needs_prefix(const PreTokenized& sequence, const Split& split) const;

  std::string replacement_;  ///< one character
  PrependScheme scheme_;
  bool split_;
};

}  // namespace sardonyx::text
