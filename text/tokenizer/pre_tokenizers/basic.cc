#include "text/tokenizer/pre_tokenizers/basic.h"

#include <algorithm>
#include <array>

#include "text/tokenizer/pre_tokenizers/cut_at_matches.h"
#include "text/tokenizer/unicode/properties.h"
#include "text/tokenizer/utf8.h"

namespace sardonyx::text {

namespace {

/// Joins a match to the stretch that `stretches`, read in their order, holds before it.
std::vector<Match> join_with_last(const std::vector<Stretch>& stretches, bool backwards) {
  std::vector<Match> result;
  bool previous_match = false;
  for (const Stretch& stretch : stretches) {
    if (stretch.is_match && !previous_match && !result.empty()) {
      (backwards ? result.back().begin : result.back().end) = backwards ? stretch.begin : stretch.end;
    } else {
      result.push_back({stretch.begin, stretch.end});
    }
    previous_match = stretch.is_match;
  }
  return result;
}

}  // namespace

std::vector<Match> join_stretches(const std::vector<Stretch>& stretches, SplitBehavior behavior) {
  std::vector<Match> result;
  switch (behavior) {
    case SplitBehavior::kMergedWithPrevious: return join_with_last(stretches, false);
    case SplitBehavior::kMergedWithNext: {
      result = join_with_last({stretches.rbegin(), stretches.rend()}, true);
      std::reverse(result.begin(), result.end());
      return result;
    }
    case SplitBehavior::kContiguous: {
      bool previous_match = false;
      for (const Stretch& stretch : stretches) {
        if (stretch.is_match == previous_match && !result.empty()) {
          result.back().end = stretch.end;
        } else {
          result.push_back({stretch.begin, stretch.end});
        }
        previous_match = stretch.is_match;
      }
      return result;
    }
    case SplitBehavior::kRemoved:
    case SplitBehavior::kIsolated: break;
  }
  for (const Stretch& stretch : stretches) {
    if (behavior == SplitBehavior::kIsolated || !stretch.is_match) result.push_back({stretch.begin, stretch.end});
  }
  return result;
}

void WhitespacePreTokenizer::pre_tokenize(PreTokenized& sequence) const {
  cut_splits(sequence, [](std::string_view text, auto emit) {
    enum Kind { kGap, kWordRun, kOtherRun };
    Kind current = kGap;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < text.size(); i += utf8_length(static_cast<unsigned char>(text[i]))) {
      const std::uint16_t flags = char_flags(utf8_decode(&text[i]));
      const Kind kind = flags & kWord ? kWordRun : flags & kWhitespace ? kGap : kOtherRun;
      if (kind == current) continue;
      if (current != kGap) emit(begin, i);
      begin = i;
      current = kind;
    }
    if (current != kGap) emit(begin, text.size());
  });
}

void CharacterPreTokenizer::pre_tokenize(PreTokenized& sequence) const {
  std::vector<Match> matches;
  cut_splits(sequence, [&](std::string_view text, auto emit) {
    matches.clear();
    for (std::size_t i = 0; i < text.size();) {
      const std::size_t next = i + utf8_length(static_cast<unsigned char>(text[i]));
      if (has_flag(utf8_decode(&text[i]), flag_)) {
        matches.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(next)});
      }
      i = next;
    }
    cut_at_matches(text, matches, behavior_, false, emit);
  });
}

void SplitPreTokenizer::pre_tokenize(PreTokenized& sequence) const {
  std::vector<Match> matches;
  cut_splits(sequence, [&](std::string_view text, auto emit) {
    matches.clear();
    pattern_->find(text, matches);
    cut_at_matches(text, matches, behavior_, invert_, emit);
  });
}

void FixedLengthPreTokenizer::pre_tokenize(PreTokenized& sequence) const {
  cut_splits(sequence, [this](std::string_view text, auto emit) {
    std::size_t begin = 0, count = 0;
    for (std::size_t i = 0; i < text.size();) {
      i += utf8_length(static_cast<unsigned char>(text[i]));
      if (++count == length_ || i == text.size()) {
        emit(begin, i);
        begin = i;
        count = 0;
      }
    }
  });
}

void UnicodeScriptsPreTokenizer::pre_tokenize(PreTokenized& sequence) const {
  cut_splits(sequence, [](std::string_view text, auto emit) {
    // What stands before the first character of a script belongs to no piece, as in the reference.
    std::size_t begin = text.size();
    std::uint8_t last = 0;
    for (std::size_t i = 0; i < text.size(); i += utf8_length(static_cast<unsigned char>(text[i]))) {
      const std::uint8_t script = script_class(utf8_decode(&text[i]));
      if (script == 0 || script == last) continue;
      if (last != 0) emit(begin, i);
      begin = i;
      last = script;
    }
    emit(begin, text.size());
  });
}

}  // namespace sardonyx::text
