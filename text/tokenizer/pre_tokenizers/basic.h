#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "text/tokenizer/patterns/pattern.h"
#include "text/tokenizer/pre_tokenizers/pre_tokenizer.h"

namespace sardonyx::text {

/// What becomes of the matches that a text is cut at.
enum class SplitBehavior { kRemoved, kIsolated, kMergedWithPrevious, kMergedWithNext, kContiguous };

/// Pre-tokenizers one after the other.
class SequencePreTokenizer : public PreTokenizer {
 public:
  explicit SequencePreTokenizer(std::vector<std::unique_ptr<PreTokenizer>> steps) : steps_(std::move(steps)) {}
  void pre_tokenize(PreTokenized& sequence) const override {
    for (const auto& step : steps_) step->pre_tokenize(sequence);
  }
  PreTokenizer* last() const { return steps_.empty() ? nullptr : steps_.back().get(); }

 private:
  std::vector<std::unique_ptr<PreTokenizer>> steps_;
};

/// Runs of word characters, and runs of other characters that are no whitespace.
class WhitespacePreTokenizer : public PreTokenizer {
 public:
  void pre_tokenize(PreTokenized& sequence) const override;
};

/// Cuts at characters that have a flag (see unicode/properties.h).
class CharacterPreTokenizer : public PreTokenizer {
 public:
  CharacterPreTokenizer(std::uint16_t flag, SplitBehavior behavior) : flag_(flag), behavior_(behavior) {}
  void pre_tokenize(PreTokenized& sequence) const override;

 private:
  std::uint16_t flag_;
  SplitBehavior behavior_;
};

/// Cuts at the matches of a pattern, or, inverted, at what lies between them.
class SplitPreTokenizer : public PreTokenizer {
 public:
  SplitPreTokenizer(std::unique_ptr<Pattern> pattern, SplitBehavior behavior, bool invert)
      : pattern_(std::move(pattern)), behavior_(behavior), invert_(invert) {}
  void pre_tokenize(PreTokenized& sequence) const override;

 private:
  std::unique_ptr<Pattern> pattern_;
  SplitBehavior behavior_;
  bool invert_;
};

/// Pieces of `length` characters.
class FixedLengthPreTokenizer : public PreTokenizer {
 public:
  explicit FixedLengthPreTokenizer(std::size_t length) : length_(length) {}
  void pre_tokenize(PreTokenized& sequence) const override;

 private:
  std::size_t length_;
};

/// Cuts where the script changes; Japanese scripts count as one.
class UnicodeScriptsPreTokenizer : public PreTokenizer {
 public:
  void pre_tokenize(PreTokenized& sequence) const override;
};

}  // namespace sardonyx::text
