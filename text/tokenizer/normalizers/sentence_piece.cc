#include "text/tokenizer/normalizers/sentence_piece.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "text/tokenizer/utf8.h"

namespace sardonyx::text {

namespace {

constexpr std::string_view kMark = "\xE2\x96\x81";  // ▁, which counts as a space at the end of a text

}  // namespace

SentencePieceNormalizer::SentencePieceNormalizer(std::string_view map, std::span<const Trie::Entry> symbols,
                                                 bool remove_extra_whitespaces)
    : symbols_(symbols), remove_extra_whitespaces_(remove_extra_whitespaces) {
  if (!map.empty()) map_.emplace(map);
}

/// How many bytes of `text` (not empty) the next step takes, and what it writes for them.
CharacterMap::Replacement SentencePieceNormalizer::next(std::string_view text) const {
  if (const Trie::Match symbol = symbols_.longest_prefix(text); symbol.value != Trie::kNone) {
    return {symbol.length, text.substr(0, symbol.length)};
  }
  if (map_ && map_->may_replace(text[0])) {
    const auto replacement = map_->longest(text);
    // A damaged map could have a key that ends within a character.
    const auto ends_character = [&](std::size_t at) { return at == text.size() || !is_utf8_continuation(text[at]); };
    if (replacement && ends_character(replacement->length)) return *replacement;
  }
  const std::size_t width = utf8_length(static_cast<unsigned char>(text[0]));
  return {width, text.substr(0, width)};
}

bool SentencePieceNormalizer::is_unchanged(std::string_view text) const {
  const auto is_plain = [&](char c) { return static_cast<unsigned char>(c) < 0x80 && !(map_ && map_->may_replace(c)); };
  if (!std::all_of(text.begin(), text.end(), is_plain)) return false;
  return !remove_extra_whitespaces_ ||
         (!text.starts_with(' ') && !text.ends_with(' ') && text.find("  ") == std::string_view::npos);
}

void SentencePieceNormalizer::normalize(AlignedText& aligned) const {
  const std::string_view text = aligned.text();
  if (text.empty() || is_unchanged(text)) return;
  std::string out;
  std::vector<Offset> spans;
  out.reserve(text.size());
  spans.reserve(text.size());
  bool after_space = remove_extra_whitespaces_;
  for (std::size_t at = 0; at < text.size();) {
    const CharacterMap::Replacement step = next(text.substr(at));
    std::string_view written = step.text;
    while (after_space && written.starts_with(' ')) written.remove_prefix(1);
    if (!written.empty()) {
      out += written;
      spans.insert(spans.end(), written.size(), aligned.span_of(at, at + step.length));
      after_space = remove_extra_whitespaces_ && written.ends_with(' ');
    }
    at += step.length;
  }
  while (remove_extra_whitespaces_ && (out.ends_with(' ') || out.ends_with(kMark))) {
    out.resize(out.size() - (out.ends_with(' ') ? 1 : kMark.size()));
  }
  spans.resize(out.size());
  aligned.replace(std::move(out), std::move(spans));
}

}  // namespace sardonyx::text
