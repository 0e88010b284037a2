#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sardonyx::values {

/// Appends a character; false where `code` is a surrogate or above U+10FFFF.
bool append_utf8(std::string& out, std::uint32_t code);

/// False where `text` is not UTF-8 (overlong forms and surrogates included).
bool decode_utf8(std::string_view text, std::u32string& out);

}  // namespace sardonyx::values
