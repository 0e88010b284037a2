#include "text/tokenizer/normalizers/basic.h"

#include <cstdint>

#include "text/tokenizer/byte_level.h"
#include "text/tokenizer/splicer.h"
#include "text/tokenizer/unicode/properties.h"
#include "text/tokenizer/utf8.h"

namespace sardonyx::text {

namespace {

template <typename Visit>
void for_each_character(std::string_view text, Visit&& visit) {
  for (std::size_t i = 0; i < text.size(); i += utf8_length(static_cast<unsigned char>(text[i]))) {
    visit(utf8_decode(&text[i]));
  }
}

/// Keeps the characters for which `map` gives one, as what it gives; drops those for which it gives kDropped.
constexpr char32_t kDropped = 0xFFFFFFFF;

template <typename Map>
void map_or_drop(AlignedText& aligned, Map&& map) {
  bool changes = aligned.has_rootless_prefix();
  for_each_character(aligned.text(), [&](char32_t c) { changes = changes || map(c) != c; });
  if (!changes) return;
  Rewriter rewriter(aligned);
  for_each_character(aligned.text(), [&](char32_t c) {
    const char32_t mapped = map(c);
    mapped == kDropped ? rewriter.skip(1) : rewriter.put(mapped);
  });
  rewriter.finish(aligned);
}

}  // namespace

void LowercaseNormalizer::normalize(AlignedText& aligned) const {
  const std::string_view text = aligned.text();
  if (is_ascii(text) && !aligned.has_rootless_prefix()) {
    std::string lower(text);
    for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    aligned.replace_in_place(std::move(lower));
    return;
  }
  Rewriter rewriter(aligned);
  for_each_character(text, [&](char32_t c) {
    const auto lower = lowercase(c);
    if (lower.empty()) rewriter.put(c);
    for (std::size_t i = 0; i < lower.size(); ++i) rewriter.put_or_add(lower[i], i == 0);
  });
  rewriter.finish(aligned);
}

void StripNormalizer::normalize(AlignedText& aligned) const {
  const std::string_view text = aligned.text();
  std::size_t begin = 0, end = text.size();
  while (left_ && begin < end && has_flag(utf8_decode(&text[begin]), kWhitespace)) {
    begin += utf8_length(static_cast<unsigned char>(text[begin]));
  }
  while (right_ && end > begin && has_flag(utf8_decode(&text[utf8_previous(text, end)]), kWhitespace)) {
    end = utf8_previous(text, end);
  }
  if (begin == 0 && end == text.size()) return;
  Splicer splicer(aligned);
  splicer.copy(begin, end);
  splicer.finish(aligned);
}

void StripAccentsNormalizer::normalize(AlignedText& aligned) const {
  map_or_drop(aligned, [](char32_t c) { return has_flag(c, kCombiningMark) ? kDropped : c; });
}

void NmtNormalizer::normalize(AlignedText& aligned) const {
  map_or_drop(aligned, [](char32_t c) -> char32_t {
    if ((c >= 0x1 && c <= 0x8) || c == 0xB || (c >= 0xE && c <= 0x1F) || c == 0x7F || c == 0x8F || c == 0x9F)
      return kDropped;
    if (c == 0x9 || c == 0xA || c == 0xC || c == 0xD || c == 0x1680 || (c >= 0x200B && c <= 0x200F)) return U' ';
    if (c == 0x2028 || c == 0x2029 || c == 0x2581 || c == 0xFEFF || c == 0xFFFD) return U' ';
    return c;
  });
}

void prepend(AlignedText& aligned, std::string_view prefix) {
  if (aligned.size() == 0) return;
  const Offset first = aligned.span_at(0);
  Splicer splicer(aligned, prefix.size());
  splicer.insert(prefix, first);
  splicer.copy(0, aligned.size());
  splicer.finish(aligned);
}

void PrependNormalizer::normalize(AlignedText& aligned) const {
  if (!prefix_.empty()) prepend(aligned, prefix_);
}

void ByteLevelNormalizer::normalize(AlignedText& aligned) const {
  const std::string_view text = aligned.text();
  Splicer splicer(aligned, text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    splicer.insert(byte_level_utf8(static_cast<unsigned char>(text[i])), aligned.span_at(i));
  }
  splicer.finish(aligned);
}

void ReplaceNormalizer::normalize(AlignedText& aligned) const {
  if (aligned.size() == 0) return;
  std::vector<Match> matches;
  pattern_->find(aligned.text(), matches);
  if (matches.empty()) return;
  check_normalized_size(matches.size() * content_.size());
  Splicer splicer(aligned, matches.size() * content_.size());
  std::size_t at = 0;
  for (const Match& match : matches) {
    splicer.copy(at, match.begin);
    if (!content_.empty()) splicer.insert(content_, place_before(aligned, match.end));
    at = match.end;
  }
  splicer.copy(at, aligned.size());
  splicer.finish(aligned);
}

}  // namespace sardonyx::text
