#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sardonyx::text {

/// The printable character that stands for a byte in byte-level vocabularies (GPT-2's table).
char32_t byte_level_character(unsigned char byte);
/// Its UTF-8.
std::string_view byte_level_utf8(unsigned char byte);
/// The byte that a character stands for.
std::optional<unsigned char> byte_of_character(char32_t c);
/// The bytes that a string of such characters stands for; nothing where another character is among them.
std::optional<std::string> bytes_of_byte_level(std::string_view text);

}  // namespace sardonyx::text
