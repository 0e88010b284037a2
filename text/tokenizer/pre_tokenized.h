#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/tokenizer/aligned_text.h"

namespace sardonyx::text {

/// A piece of a PreTokenized text: bytes [begin, end) of it, and the id where it is an added token.
struct Split {
  static constexpr std::uint32_t kNoToken = 0xFFFFFFFF;

  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint32_t token = kNoToken;

  bool is_token() const { return token != kNoToken; }
};

/// A normalized text cut into pieces, in order. Pieces need not cover the text.
struct PreTokenized {
  AlignedText text;
  std::vector<Split> splits;

  std::string_view view(const Split& split) const { return text.text().substr(split.begin, split.end - split.begin); }
};

}  // namespace sardonyx::text
