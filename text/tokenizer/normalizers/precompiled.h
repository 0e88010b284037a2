#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer/normalizers/normalizer.h"

namespace sardonyx::text {

/// SentencePiece's compiled character map: a double-array trie (darts-clone's layout) over UTF-8, whose values are offsets of
/// zero-terminated replacements. A grapheme cluster of less than six bytes is looked up whole, else character by character.
class PrecompiledNormalizer : public Normalizer {
 public:
  /// Throws Error kInvalidModel where the map is damaged.
  explicit PrecompiledNormalizer(std::string_view map);
  void normalize(AlignedText& text) const override;

 private:
  /// The replacement of the shortest key that `text` starts with.
  std::optional<std::string_view> find(std::string_view text) const;

  std::vector<std::uint32_t> units_;
  std::string replacements_;
  std::uint32_t ascii_replaced_[4] = {};  ///< bit per ASCII character: it may start a key
};

}  // namespace sardonyx::text
