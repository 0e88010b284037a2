#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "text/tokenizer/normalizers/character_map.h"
#include "text/tokenizer/normalizers/normalizer.h"
#include "text/tokenizer/trie.h"

namespace sardonyx::text {

/// What SentencePiece itself does to a text before it looks for pieces, but for the marks that it writes for spaces:
/// its character map from left to right, the longest key first, around symbols that stay as they are; then, where
/// asked, no spaces at the ends and only one between words.
class SentencePieceNormalizer : public Normalizer {
 public:
  /// `map` may be empty. Throws Error kInvalidModel where it is damaged.
  SentencePieceNormalizer(std::string_view map, std::span<const Trie::Entry> symbols, bool remove_extra_whitespaces);
  void normalize(AlignedText& text) const override;

 private:
  CharacterMap::Replacement next(std::string_view text) const;
  bool is_unchanged(std::string_view text) const;

  std::optional<CharacterMap> map_;
  Trie symbols_;
  bool remove_extra_whitespaces_;
};

}  // namespace sardonyx::text
