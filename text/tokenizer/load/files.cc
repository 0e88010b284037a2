#include "text/tokenizer/load/files.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "base/fail.h"
#include "text/tokenizer/load/json.h"

namespace sardonyx::text {

std::string read_file(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!file) {
    fail(errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo, "cannot open '{}': {}", path, std::strerror(errno));
  }
  std::string content;
  std::error_code error;
  if (const auto size = std::filesystem::file_size(path, error); !error) content.reserve(size + 64);  // simdjson's padding
  char buffer[1 << 16];
  for (std::size_t count; (count = std::fread(buffer, 1, sizeof buffer, file.get())) > 0;) content.append(buffer, count);
  if (std::ferror(file.get())) fail(ErrorCode::kIo, "cannot read '{}': {}", path, std::strerror(errno));
  return content;
}

TokenizerParts load_tokenizer_file(const std::string& path) { return parse_tokenizer_json(read_file(path)); }

namespace {

/// Numbers above this mean "no limit" in tokenizer_config.json (the hub writes 1e30).
constexpr double kMostTokens = 1e9;

std::string special_content(json::Element value) {
  if (value.is_object()) {
    if (const auto content = json::find(json::object(value, "a special token"), "content")) {
      return std::string(json::string(*content, "content"));
    }
    return {};
  }
  return value.is_string() ? std::string(json::string(value, "a special token")) : std::string();
}

void read_config(const std::string& path, TokenizerConfig& config) {
  if (!std::filesystem::exists(path)) return;
  simdjson::dom::parser parser;
  json::Element document;
  const std::string text = read_file(path);
  if (const auto error = parser.parse(text.data(), text.size()).get(document); error != simdjson::SUCCESS) {
    fail(ErrorCode::kInvalidModel, "'{}' is not valid JSON: {}", path, simdjson::error_message(error));
  }
  for (const auto& [key, value] : json::object(document, path)) {
    if (key == "model_max_length" && value.is_number()) {
      const double length = json::number(value, key);
      if (length >= 1 && length < kMostTokens) config.model_max_length = static_cast<std::size_t>(length);
    } else if (key == "do_lower_case" && value.is_bool()) {
      config.do_lower_case = json::boolean(value, key);
    } else if (key.ends_with("_token")) {
      if (std::string content = special_content(value); !content.empty()) config.special_tokens[std::string(key)] = content;
    }
  }
}

}  // namespace

LoadedFolder load_tokenizer_folder(const std::string& path) {
  LoadedFolder folder;
  read_config(path + "/special_tokens_map.json", folder.config);
  read_config(path + "/tokenizer_config.json", folder.config);
  folder.parts = load_tokenizer_file(path + "/tokenizer.json");
  return folder;
}

}  // namespace sardonyx::text
