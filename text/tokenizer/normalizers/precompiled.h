#pragma once

#include <string_view>

#include "text/tokenizer/normalizers/character_map.h"
#include "text/tokenizer/normalizers/normalizer.h"

namespace sardonyx::text {

/// A character map as the reference applies it: a grapheme cluster of less than six bytes is looked up whole, else
/// character by character, and of several keys the shortest counts.
class PrecompiledNormalizer : public Normalizer {
 public:
  /// Throws Error kInvalidModel where the map is damaged.
  explicit PrecompiledNormalizer(std::string_view map) : map_(map) {}
  void normalize(AlignedText& text) const override;

 private:
  CharacterMap map_;
};

}  // namespace sardonyx::text
