#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace sardonyx::values {

/// Parses JSON text in UTF-8. Throws kInvalidArgument naming `where`, the place and the fault, also where objects and
/// lists are nested deeper than `most_depth`.
nlohmann::json parse_json(std::string_view text, const std::string& where, int most_depth = 64);

}  // namespace sardonyx::values
