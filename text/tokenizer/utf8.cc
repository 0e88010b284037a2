#include "text/tokenizer/utf8.h"

#include <cstring>

namespace sardonyx::text {

namespace {

/// Length of the ASCII run that starts at `i`, rounded down to whole words.
std::size_t skip_ascii(std::string_view text, std::size_t i) {
  while (i + 8 <= text.size()) {
    std::uint64_t word;
    std::memcpy(&word, text.data() + i, 8);
    if (word & 0x8080808080808080u) break;
    i += 8;
  }
  return i;
}

/// Length of the valid character at `i`, or 0.
std::size_t valid_length(std::string_view text, std::size_t i) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned char lead = byte(i);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  const std::size_t length = utf8_length(lead);
  if (i + length > text.size()) return 0;
  const unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (byte(i + 1) < low || byte(i + 1) > high) return 0;
  for (std::size_t k = 2; k < length; ++k) {
    if (!is_utf8_continuation(text[i + k])) return 0;
  }
  return length;
}

}  // namespace

std::size_t find_invalid_utf8(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    i = skip_ascii(text, i);
    if (i >= text.size()) break;
    const std::size_t length = valid_length(text, i);
    if (length == 0) return i;
    i += length;
  }
  return std::string_view::npos;
}

bool is_ascii(std::string_view text) {
  std::size_t i = skip_ascii(text, 0);
  for (; i < text.size(); ++i) {
    if (static_cast<unsigned char>(text[i]) >= 0x80) return false;
  }
  return true;
}

}  // namespace sardonyx::text
