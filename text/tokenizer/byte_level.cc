#include "text/tokenizer/byte_level.h"

#include "text/tokenizer/utf8.h"

namespace sardonyx::text {

namespace {

struct Table {
  std::array<char32_t, 256> characters{};
  std::array<std::string, 256> utf8;
  std::array<std::int16_t, 512> bytes{};

  Table() {
    bytes.fill(-1);
    char32_t next = 256;
    for (int byte = 0; byte < 256; ++byte) {
      const bool printable = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
      characters[byte] = printable ? static_cast<char32_t>(byte) : next++;
      utf8_append(utf8[byte], characters[byte]);
      bytes[characters[byte]] = static_cast<std::int16_t>(byte);
    }
  }
};

const Table& table() {
  static const Table kTable;
  return kTable;
}

}  // namespace

char32_t byte_level_character(unsigned char byte) { return table().characters[byte]; }

std::string_view byte_level_utf8(unsigned char byte) { return table().utf8[byte]; }

std::optional<unsigned char> byte_of_character(char32_t c) {
  if (c >= table().bytes.size() || table().bytes[c] < 0) return std::nullopt;
  return static_cast<unsigned char>(table().bytes[c]);
}

std::optional<std::string> bytes_of_byte_level(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); i += utf8_length(static_cast<unsigned char>(text[i]))) {
    const auto byte = byte_of_character(utf8_decode(&text[i]));
    if (!byte) return std::nullopt;
    bytes.push_back(static_cast<char>(*byte));
  }
  return bytes;
}

}  // namespace sardonyx::text
