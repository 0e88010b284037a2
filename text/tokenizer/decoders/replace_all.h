#pragma once

#include <string>
#include <string_view>

namespace sardonyx::text {

/// The text with every occurrence of `from` (not empty), from the left and without overlap, replaced by `to`.
inline std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  std::size_t at = 0;
  for (std::size_t found; (found = text.find(from, at)) != std::string_view::npos; at = found + from.size()) {
    result.append(text, at, found - at);
    result.append(to);
  }
  result.append(text, at);
  return result;
}

}  // namespace sardonyx::text
