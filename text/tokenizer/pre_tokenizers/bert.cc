#include "text/tokenizer/pre_tokenizers/bert.h"

#include <array>

#include "text/tokenizer/unicode/properties.h"
#include "text/tokenizer/utf8.h"

namespace sardonyx::text {

namespace {

enum Kind : std::uint8_t { kLetter, kSpace, kMark };

Kind kind_of(char32_t c) {
  const std::uint16_t flags = char_flags(c);
  return flags & kWhitespace ? kSpace : flags & kPunctuation ? kMark : kLetter;
}

std::array<Kind, 128> ascii_kinds() {
  std::array<Kind, 128> kinds{};
  for (char32_t c = 0; c < 128; ++c) kinds[c] = kind_of(c);
  return kinds;
}

}  // namespace

void BertPreTokenizer::pre_tokenize(PreTokenized& sequence) const {
  static const std::array<Kind, 128> kAscii = ascii_kinds();
  cut_splits(sequence, [](std::string_view text, auto emit) {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < text.size();) {
      const auto byte = static_cast<unsigned char>(text[i]);
      const Kind kind = byte < 0x80 ? kAscii[byte] : kind_of(utf8_decode(&text[i]));
      const std::size_t next = i + utf8_length(byte);
      if (kind != kLetter) {
        emit(begin, i);
        if (kind == kMark) emit(i, next);
        begin = next;
      }
      i = next;
    }
    emit(begin, text.size());
  });
}

}  // namespace sardonyx::text
