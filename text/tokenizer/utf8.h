#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sardonyx::text {

/// Index of the first byte that is not part of valid UTF-8 (RFC 3629), or npos. Overlong forms and surrogates are
/// invalid.
std::size_t find_invalid_utf8(std::string_view text);

/// Length of the character that starts with `lead`, in valid UTF-8.
inline std::size_t utf8_length(unsigned char lead) { return lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4; }

inline std::size_t utf8_width(char32_t c) { return c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4; }

inline bool is_utf8_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// The character that starts at `at`, in valid UTF-8.
inline char32_t utf8_decode(const char* at) {
  const auto* p = reinterpret_cast<const unsigned char*>(at);
  if (p[0] < 0x80) return p[0];
  if (p[0] < 0xE0) return (p[0] & 0x1Fu) << 6 | (p[1] & 0x3Fu);
  if (p[0] < 0xF0) return (p[0] & 0x0Fu) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu);
  return (p[0] & 0x07u) << 18 | (p[1] & 0x3Fu) << 12 | (p[2] & 0x3Fu) << 6 | (p[3] & 0x3Fu);
}

inline void utf8_append(std::string& out, char32_t c) {
  if (c < 0x80) {
    out.push_back(static_cast<char>(c));
    return;
  }
  char bytes[4];
  std::size_t count;
  if (c < 0x800) {
    bytes[0] = static_cast<char>(0xC0 | c >> 6);
    bytes[1] = static_cast<char>(0x80 | (c & 0x3F));
    count = 2;
  } else if (c < 0x10000) {
    bytes[0] = static_cast<char>(0xE0 | c >> 12);
    bytes[1] = static_cast<char>(0x80 | (c >> 6 & 0x3F));
    bytes[2] = static_cast<char>(0x80 | (c & 0x3F));
    count = 3;
  } else {
    bytes[0] = static_cast<char>(0xF0 | c >> 18);
    bytes[1] = static_cast<char>(0x80 | (c >> 12 & 0x3F));
    bytes[2] = static_cast<char>(0x80 | (c >> 6 & 0x3F));
    bytes[3] = static_cast<char>(0x80 | (c & 0x3F));
    count = 4;
  }
  out.append(bytes, count);
}

/// Start of the character that ends just before `at` (> 0).
inline std::size_t utf8_previous(std::string_view text, std::size_t at) {
  do --at;
  while (at > 0 && is_utf8_continuation(text[at]));
  return at;
}

inline std::size_t utf8_count(std::string_view text) {
  std::size_t count = 0;
  for (char c : text) count += !is_utf8_continuation(c);
  return count;
}

/// True where no byte has its high bit set.
bool is_ascii(std::string_view text);

}  // namespace sardonyx::text
