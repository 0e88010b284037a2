#include "text/tokenizer/pre_tokenizers/metaspace.h"

#include "text/tokenizer/pre_tokenizers/cut_at_matches.h"
#include "text/tokenizer/pre_tokenizers/rewrite_splits.h"

namespace sardonyx::text {

/// Judged as if the spaces were replaced already.
bool MetaspacePreTokenizer::needs_prefix(const PreTokenized& sequence, const Split& split) const {
  if (scheme_ == PrependScheme::kNever) return false;
  if (scheme_ == PrependScheme::kSentencePiece) return split.begin == 0;
  const std::string_view piece = sequence.view(split);
  if (piece.starts_with(' ') || piece.starts_with(replacement_)) return false;
  return scheme_ == PrependScheme::kAlways || sequence.text.span_at(split.begin).begin == 0;
}

void MetaspacePreTokenizer::pre_tokenize(PreTokenized& sequence) const {
  const auto wanted = [&](const Split& split) {
    return needs_prefix(sequence, split) || sequence.view(split).find(' ') != std::string_view::npos;
  };
  rewrite_splits(sequence, wanted, [&](const AlignedText& text, const Split& split, Splicer& out) {
    if (needs_prefix(sequence, split)) out.insert(replacement_, text.span_at(split.begin));
    const std::string_view bytes = text.text().substr(0, split.end);
    for (std::size_t at = split.begin; at < split.end;) {
      const std::size_t space = std::min<std::size_t>(bytes.find(' ', at), split.end);
      out.copy(at, space);
      if (space < split.end) out.insert(replacement_, text.span_at(space));
      at = space + 1;
    }
  });
  if (!split_) return;
  std::vector<Match> matches;
  cut_splits(sequence, [&](std::string_view text, auto emit) {
    // A mark opens a piece; where several stand together each is a piece and the last takes what follows.
    std::size_t begin = 0;
    for (std::size_t at = 0; (at = text.find(replacement_, at)) != std::string_view::npos; at += replacement_.size()) {
      emit(begin, at);
      begin = at;
    }
    emit(begin, text.size());
  });
}

}  // namespace sardonyx::text
