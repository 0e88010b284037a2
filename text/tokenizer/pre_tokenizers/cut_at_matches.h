#pragma once

#include <string_view>
#include <vector>

#include "text/tokenizer/pre_tokenizers/basic.h"

namespace sardonyx::text {

/// A stretch of text between two cuts, and whether it matched.
struct Stretch {
  std::uint32_t begin, end;
  bool is_match;
};

/// The whole text as matches and what lies between them, in order.
inline std::vector<Stretch> stretches_of(std::size_t size, const std::vector<Match>& matches, bool invert) {
  std::vector<Stretch> stretches;
  stretches.reserve(matches.size() * 2 + 1);
  std::uint32_t at = 0;
  for (const Match& match : matches) {
    if (at != match.begin) stretches.push_back({at, match.begin, invert});
    stretches.push_back({match.begin, match.end, !invert});
    at = match.end;
  }
  if (at != size) stretches.push_back({at, static_cast<std::uint32_t>(size), invert});
  return stretches;
}

/// The stretches as the behavior joins them; those to be dropped are left out.
std::vector<Match> join_stretches(const std::vector<Stretch>& stretches, SplitBehavior behavior);

/// Cuts `text` at `matches` as `behavior` says, calling `emit(begin, end)` for each piece; pieces may be empty.
template <typename Emit>
void cut_at_matches(std::string_view text, const std::vector<Match>& matches, SplitBehavior behavior, bool invert,
                    Emit&& emit) {
  if (behavior == SplitBehavior::kIsolated || behavior == SplitBehavior::kRemoved) {
    // The common behaviors need no list of stretches.
    const bool keep_matches = behavior == SplitBehavior::kIsolated || invert;
    const bool keep_between = behavior == SplitBehavior::kIsolated || !invert;
    std::size_t at = 0;
    for (const Match& match : matches) {
      if (keep_between) emit(at, match.begin);
      if (keep_matches) emit(match.begin, match.end);
      at = match.end;
    }
    if (keep_between) emit(at, text.size());
    return;
  }
  for (const Match& piece : join_stretches(stretches_of(text.size(), matches, invert), behavior))
    emit(piece.begin, piece.end);
}

}  // namespace sardonyx::text
