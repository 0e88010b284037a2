#include "text/tokenizer/pre_tokenizers/byte_level.h"

#include <memory>

#include "text/tokenizer/byte_level.h"
#include "text/tokenizer/patterns/pattern.h"
#include "text/tokenizer/pre_tokenizers/cut_at_matches.h"
#include "text/tokenizer/pre_tokenizers/rewrite_splits.h"

namespace sardonyx::text {

void ByteLevelPreTokenizer::pre_tokenize(PreTokenized& sequence) const {
  static const std::unique_ptr<Pattern> kPattern = make_scanner_pattern(kGpt2Expression);
  if (add_prefix_space_) {
    const auto needs_space = [&](const Split& split) { return !sequence.view(split).starts_with(' '); };
    rewrite_splits(sequence, needs_space, [](const AlignedText& text, const Split& split, Splicer& out) {
      out.insert(" ", text.span_at(split.begin));
      out.copy(split.begin, split.end);
    });
  }
  if (use_regex_) {
    std::vector<Match> matches;
    cut_splits(sequence, [&](std::string_view text, auto emit) {
      matches.clear();
      kPattern->find(text, matches);
      cut_at_matches(text, matches, SplitBehavior::kIsolated, false, emit);
    });
  }
  if (keeps_bytes_) return;
  rewrite_splits(
      sequence, [](const Split&) { return true; },
      [](const AlignedText& text, const Split& split, Splicer& out) {
        const std::string_view bytes = text.text();
        for (std::uint32_t i = split.begin; i < split.end; ++i) {
          out.insert(byte_level_utf8(static_cast<unsigned char>(bytes[i])), text.span_at(i));
        }
      });
}

}  // namespace sardonyx::text
