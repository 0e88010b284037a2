#pragma once

#include <algorithm>
#include <utility>

#include "text/tokenizer/pre_tokenizers/pre_tokenizer.h"
#include "text/tokenizer/splicer.h"

namespace sardonyx::text {

/// Rewrites the pieces that are no tokens and for which `wanted(split)` holds: `write(text, split, out)` writes the
/// piece's new text to `out`. Text between pieces is dropped. Nothing happens where no piece is wanted.
template <typename Wanted, typename Write>
void rewrite_splits(PreTokenized& sequence, Wanted&& wanted, Write&& write) {
  const auto is_wanted = [&](const Split& split) { return !split.is_token() && wanted(split); };
  if (std::none_of(sequence.splits.begin(), sequence.splits.end(), is_wanted)) return;
  Splicer out(sequence.text, sequence.text.size());
  std::vector<Split> splits;
  splits.reserve(sequence.splits.size());
  for (const Split& split : sequence.splits) {
    const auto begin = static_cast<std::uint32_t>(out.size());
    if (is_wanted(split)) {
      write(sequence.text, split, out);
    } else {
      out.copy(split.begin, split.end);
    }
    splits.push_back({begin, static_cast<std::uint32_t>(out.size()), split.token});
  }
  out.finish(sequence.text);
  std::erase_if(splits, [](const Split& split) { return split.begin == split.end; });
  sequence.splits = std::move(splits);
}

}  // namespace sardonyx::text
