#include "text/tokenizer/normalizers/bert.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "text/tokenizer/unicode/properties.h"
#include "text/tokenizer/utf8.h"

namespace sardonyx::text {

namespace {

bool is_ideograph(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
         (c >= 0x2A700 && c <= 0x2B73F) || (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

/// The steps after cleaning, character by character. Places follow the reference: a character that replaces another
/// takes the next old place, one that is added shares the last.
class Pass {
 public:
  Pass(const BertNormalizer::Options& options, std::string& text, std::vector<Offset>& spans)
      : options_(options), text_(text), spans_(spans) {}

  void feed(char32_t c, Offset span) {
    if (options_.handle_chinese_chars && is_ideograph(c)) {
      decompose(U' ', span);
      decompose(c, span);
      decompose(U' ', span);
    } else {
      decompose(c, span);
    }
  }

  void ascii(char c, Offset span) {
    flush();
    text_.push_back(c);
    spans_.push_back(span);
    last_ = span;
  }

  /// Emits the marks that wait to be put in canonical order.
  void flush() {
    if (marks_.empty()) return;
    if (marks_.size() > 1) {
      std::stable_sort(marks_.begin(), marks_.end(),
                       [](const Mark& a, const Mark& b) { return a.combining_class < b.combining_class; });
    }
    std::size_t next = 0;
    for (const Mark& mark : marks_) {
      if (mark.takes_place && next < places_.size()) last_ = places_[next++];
      emit(mark.c, last_);
    }
    marks_.clear();
    places_.clear();
  }

 private:
  struct Mark {
    char32_t c;
    std::uint8_t combining_class;
    bool takes_place;
  };

  void decompose(char32_t c, Offset span) {
    if (!options_.strip_accents) {
      emit(c, span);
      return;
    }
    char32_t jamo[3];
    if (const int count = decompose_hangul(c, jamo); count != 0) {
      for (int i = 0; i < count; ++i) order(jamo[i], span, i == 0);
      return;
    }
    const auto parts = canonical_decomposition(c);
    if (parts.empty()) {
      order(c, span, true);
      return;
    }
    for (std::size_t i = 0; i < parts.size(); ++i) order(parts[i], span, i == 0);
  }

  void order(char32_t c, Offset span, bool takes_place) {
    const std::uint8_t ccc = combining_class(c);
    if (ccc != 0) {
      marks_.push_back({c, ccc, takes_place});
      if (takes_place) places_.push_back(span);
      return;
    }
    flush();
    if (takes_place) last_ = span;
    emit(c, last_);
  }

  void emit(char32_t c, Offset span) {
    if (options_.strip_accents && has_flag(c, kNonspacingMark)) return;
    if (!options_.lowercase) {
      write(c, span);
      return;
    }
    const auto lower = lowercase(c);
    if (lower.empty()) write(c, span);
    for (std::uint32_t part : lower) write(part, span);
  }

  void write(char32_t c, Offset span) {
    utf8_append(text_, c);
    spans_.resize(text_.size(), span);
  }

  const BertNormalizer::Options& options_;
  std::string& text_;
  std::vector<Offset>& spans_;
  std::vector<Mark> marks_;
  std::vector<Offset> places_;
  Offset last_;
};

}  // namespace

BertNormalizer::BertNormalizer(Options options) : options_(options) {
  for (int c = 0; c < 128; ++c) {
    const bool is_space = has_flag(static_cast<char32_t>(c), kWhitespace);
    removed_[c] = options_.clean_text && has_flag(static_cast<char32_t>(c), kBertControl);
    ascii_[c] = static_cast<char>(c);
    if (options_.clean_text && is_space) ascii_[c] = ' ';
    if (options_.lowercase && c >= 'A' && c <= 'Z') ascii_[c] = static_cast<char>(c + 32);
  }
}

void BertNormalizer::normalize(AlignedText& aligned) const {
  const std::string_view old = aligned.text();
  std::string text(old.size(), '\0');
  std::size_t i = 0;
  // The common case: plain ASCII, where everything keeps its place.
  for (; i < old.size(); ++i) {
    const auto byte = static_cast<unsigned char>(old[i]);
    if (byte >= 0x80 || removed_[byte]) break;
    text[i] = ascii_[byte];
  }
  if (i == old.size()) {
    aligned.replace_in_place(std::move(text));
    return;
  }
  text.resize(i);
  std::vector<Offset> spans;
  spans.reserve(old.size() + old.size() / 2);
  for (std::size_t k = 0; k < i; ++k) spans.push_back(aligned.span_at(k));
  Pass pass(options_, text, spans);
  while (i < old.size()) {
    const auto byte = static_cast<unsigned char>(old[i]);
    if (byte < 0x80) {
      if (!removed_[byte]) pass.ascii(ascii_[byte], aligned.span_at(i));
      ++i;
      continue;
    }
    const char32_t c = utf8_decode(&old[i]);
    const std::uint16_t flags = char_flags(c);
    if (!options_.clean_text || (!(flags & kBertControl) && c != 0xFFFD)) {
      pass.feed(options_.clean_text && (flags & kWhitespace) ? U' ' : c, aligned.span_at(i));
    }
    i += utf8_length(byte);
  }
  pass.flush();
  aligned.replace(std::move(text), std::move(spans));
}

}  // namespace sardonyx::text
