#include "text/tokenizer/load/config.h"

#include <cstdlib>
#include <simdjson.h>

#include "base/fail.h"

namespace sardonyx::text {

namespace ondemand = simdjson::ondemand;

namespace {

/// Numbers above this mean "no limit" (the hub writes 1e30, or all its digits, which fit no integer).
constexpr double kMostTokens = 1e9;

/// A string, or the member `content` of an object; else empty.
std::string special_content(ondemand::value value) {
  std::string_view content;
  ondemand::object object;
  if (value.get_object().get(object) == simdjson::SUCCESS) {
    if (object.find_field_unordered("content").get_string().get(content) != simdjson::SUCCESS) return {};
  } else if (value.get_string().get(content) != simdjson::SUCCESS) {
    return {};
  }
  return std::string(content);
}

void read_member(std::string_view key, ondemand::value value, TokenizerConfig& config) {
  if (key == "model_max_length") {
    ondemand::json_type type;
    if (value.type().get(type) != simdjson::SUCCESS || type != ondemand::json_type::number) return;
    const double length = std::strtod(std::string(value.raw_json_token()).c_str(), nullptr);
    if (length >= 1 && length < kMostTokens) config.model_max_length = static_cast<std::size_t>(length);
  } else if (key == "do_lower_case") {
    bool on = false;
    if (value.get_bool().get(on) == simdjson::SUCCESS) config.do_lower_case = on;
  } else if (key.ends_with("_token")) {
    if (std::string content = special_content(value); !content.empty()) {
      config.special_tokens[std::string(key)] = std::move(content);
    }
  }
}

}  // namespace

void read_tokenizer_config(std::string_view text, const std::string& name, TokenizerConfig& config) {
  const auto check = [&](simdjson::error_code error) {
    if (error == simdjson::SUCCESS) return;
    fail(ErrorCode::kInvalidModel, "'{}' is not a JSON object: {}", name, simdjson::error_message(error));
  };
  const simdjson::padded_string padded(text);
  ondemand::parser parser;
  ondemand::document document;
  ondemand::object members;
  check(parser.iterate(padded).get(document));
  check(document.get_object().get(members));
  for (auto item : members) {
    ondemand::field member;
    check(std::move(item).get(member));
    std::string_view key;
    check(member.unescaped_key().get(key));
    read_member(key, member.value(), config);
  }
}

}  // namespace sardonyx::text
