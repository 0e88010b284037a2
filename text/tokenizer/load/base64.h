#pragma once

#include <string>
#include <string_view>

namespace sardonyx::text {

/// Standard base64 with padding. Throws Error kInvalidModel where the text is something else.
std::string decode_base64(std::string_view text);

}  // namespace sardonyx::text
