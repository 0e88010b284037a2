#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "text/tokenizer/pre_tokenized.h"

namespace sardonyx::text {

/// One step that cuts the pieces of a text into smaller ones. Added tokens pass through untouched.
class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  virtual void pre_tokenize(PreTokenized& sequence) const = 0;
};

/// Replaces every piece that is not a token by what `cut(text, emit)` emits of it; `emit(begin, end)` takes offsets
/// within the piece, and empty ones are dropped.
template <typename Cut>
void cut_splits(PreTokenized& sequence, Cut&& cut) {
  const std::string_view text = sequence.text.text();
  std::vector<Split> result;
  result.reserve(sequence.splits.size() + text.size() / 4 + 1);
  for (const Split& split : sequence.splits) {
    if (split.is_token()) {
      result.push_back(split);
      continue;
    }
    cut(text.substr(split.begin, split.end - split.begin), [&](std::size_t begin, std::size_t end) {
      if (begin >= end) return;
      result.push_back({split.begin + static_cast<std::uint32_t>(begin), split.begin + static_cast<std::uint32_t>(end),
                        Split::kNoToken});
    });
  }
  sequence.splits = std::move(result);
}

}  // namespace sardonyx::text
