#include "apps/values/parse_json.h"

#include <nlohmann/json.hpp>

#include "base/fail.h"

namespace sardonyx::values {
namespace {

/// How deep brackets go, outside of strings. Needs no valid JSON.
int depth_of(std::string_view text) {
  int depth = 0, deepest = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      deepest = std::max(deepest, ++depth);
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return deepest;
}

/// nlohmann's message without its "[json.exception...] parse error at line 1, column 2: " head's brackets.
std::string plain_message(const nlohmann::json::exception& error) {
  const std::string text = error.what();
  const std::size_t at = text.find("] ");
  return at == std::string::npos ? text : text.substr(at + 2);
}

}  // namespace

nlohmann::json parse_json(std::string_view text, const std::string& where, int most_depth) {
  if (depth_of(text) > most_depth) {
    fail(ErrorCode::kInvalidArgument, "{}: the JSON is nested deeper than {} levels", where, most_depth);
  }
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorCode::kInvalidArgument, "{}: expected JSON: {}", where, plain_message(error));
  }
}

}  // namespace sardonyx::values
