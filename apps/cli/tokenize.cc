#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/cli/commands.h"
#include "apps/cli/terminal.h"
#include "base/fail.h"
#include "text/tokenizer/tokenizer.h"

namespace sardonyx::cli {
namespace {

using nlohmann::json;
using text::Encoding;
using text::Tokenizer;

struct TokenizeCommand {
  std::string tokenizer;
  std::vector<std::string> files;
  bool records = false, print_json = false, decode = false, no_special = false, table = false;
  std::size_t max_length = 0;
};

/// A line of input: a text, and perhaps its pair.
struct Record {
  std::string first;
  std::optional<std::string> second;
};

std::string string_of(const json& value) {
  if (!value.is_string()) fail(ErrorCode::kInvalidArgument, "a record's text should be a string, not {}", value.type_name());
  return value.get<std::string>();
}

/// "text", ["text", "pair"] or {"text": …, "pair": …}.
Record parse_record(const std::string& line) {
  const json value = json::parse(line, nullptr, false);
  if (value.is_discarded()) fail(ErrorCode::kInvalidArgument, "the line is not JSON: {}", line);
  if (value.is_string()) return {string_of(value), std::nullopt};
  if (value.is_array() && value.size() == 2) return {string_of(value[0]), string_of(value[1])};
  if (value.is_object() && value.contains("text")) {
    Record record{string_of(value["text"]), std::nullopt};
    if (value.contains("pair") && !value["pair"].is_null()) record.second = string_of(value["pair"]);
    return record;
  }
  fail(ErrorCode::kInvalidArgument,
       "a record should be a string, [\"text\", \"pair\"] or {{\"text\": …, \"pair\": …}}; found {}", line);
}

json encoding_json(const Encoding& encoding) {
  json offsets = json::array();
  for (const text::Offset& offset : encoding.offsets) offsets.push_back({offset.begin, offset.end});
  return {{"tokens", encoding.tokens},
          {"ids", encoding.ids},
          {"type_ids", encoding.type_ids},
          {"offsets", std::move(offsets)},
          {"special_tokens_mask", encoding.special_tokens_mask}};
}

/// Tokens as they should appear on one line of a terminal.
std::string visible(std::string_view token) {
  std::string text;
  for (char c : token) {
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F) {
      text += c;
    } else {
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return text;
}

void print_text(const Encoding& encoding, bool table) {
  const Style& style = output_style();
  std::string tokens, ids;
  for (std::size_t i = 0; i < encoding.size(); ++i) {
    const std::string token = visible(encoding.tokens[i]);
    const std::string painted = encoding.special_tokens_mask[i] ? style.dim(token) : style.stripe(i, token);
    if (table) {
      const text::Offset& offset = encoding.offsets[i];
      fmt::print("{:>8}  {:>6}-{:<6} {}\n", encoding.ids[i], offset.begin, offset.end, painted);
    }
    tokens += (i == 0 ? "" : " ") + painted;
    ids += fmt::format("{}{}", i == 0 ? "" : " ", encoding.ids[i]);
  }
  if (table) {
    fmt::print("\n");
  } else {
    fmt::print("{}\n{}\n", tokens, style.dim(ids));
  }
}

std::vector<std::uint32_t> parse_ids(std::string_view line) {
  std::vector<std::uint32_t> ids;
  for (std::size_t at = 0; at < line.size();) {
    if (std::string_view(" ,\t\r[]").find(line[at]) != std::string_view::npos) {
      ++at;
      continue;
    }
    std::uint32_t id = 0;
    const auto [end, error] = std::from_chars(line.data() + at, line.data() + line.size(), id);
    if (error != std::errc()) fail(ErrorCode::kInvalidArgument, "'{}' is not a token id", line.substr(at));
    ids.push_back(id);
    at = static_cast<std::size_t>(end - line.data());
  }
  return ids;
}

void tokenize_line(const TokenizeCommand& command, const Tokenizer& tokenizer, const std::string& line) {
  if (command.decode) {
    fmt::print("{}\n", tokenizer.decode(parse_ids(line), command.no_special));
    return;
  }
  const Record record = command.records ? parse_record(line) : Record{line, std::nullopt};
  text::EncodeOptions options;
  options.add_special_tokens = !command.no_special;
  options.overflowing = false;
  if (command.max_length > 0) options.truncation = text::Truncation{.max_length = command.max_length};
  const Encoding encoding = record.second ? tokenizer.encode(record.first, *record.second, options)
                                          : tokenizer.encode(record.first, options);
  if (command.print_json || command.records) {
    fmt::print("{}\n", encoding_json(encoding).dump(-1, ' ', false, json::error_handler_t::replace));
  } else {
    print_text(encoding, command.table);
  }
}

void tokenize_stream(const TokenizeCommand& command, const Tokenizer& tokenizer, std::istream& input, const std::string& name) {
  std::size_t number = 0;
  for (std::string line; std::getline(input, line);) {
    ++number;
    try {
      tokenize_line(command, tokenizer, line);
    } catch (Error& error) {
      error.add_context(fmt::format("line {} of {}", number, name));
      throw;
    }
  }
}

void tokenize(const TokenizeCommand& command) {
  const bool is_folder = std::filesystem::is_directory(command.tokenizer);
  const Tokenizer tokenizer = is_folder ? Tokenizer::from_folder(command.tokenizer) : Tokenizer::from_file(command.tokenizer);
  if (command.files.empty()) tokenize_stream(command, tokenizer, std::cin, "standard input");
  for (const std::string& file : command.files) {
    std::ifstream input(file);
    if (!input) fail(ErrorCode::kNotFound, "cannot open '{}'", file);
    tokenize_stream(command, tokenizer, input, "'" + file + "'");
  }
}

}  // namespace

void add_tokenize(CLI::App& app, Outcome&) {
  auto command = std::make_shared<TokenizeCommand>();
  CLI::App* sub = app.add_subcommand("tokenize", "Turn lines of text into tokens and ids, or ids back into text");
  sub->footer(
      "Examples:\n"
      "  echo 'Hello, world!' | sardonyx tokenize --tokenizer model_folder\n"
      "  sardonyx tokenize --tokenizer tokenizer.json --table texts.txt\n"
      "  echo '[\"a text\", \"its pair\"]' | sardonyx tokenize --tokenizer tokenizer.json --json\n"
      "  echo '101 7592 102' | sardonyx tokenize --tokenizer tokenizer.json --decode\n");
  sub->add_option("--tokenizer,-t", command->tokenizer, "tokenizer.json, another tokenizer file, or a model folder")
      ->required()
      ->type_name("PATH");
  sub->add_option("files", command->files, "Files to read instead of standard input")->type_name("FILE");
  sub->add_flag("--json", command->records, "Lines are JSON: \"text\", [\"text\", \"pair\"] or {\"text\", \"pair\"}; so are the answers");
  sub->add_flag("--print-json", command->print_json, "Lines are text; print JSON lines");
  sub->add_flag("--table", command->table, "A token a line: id, characters covered, token");
  sub->add_flag("--decode", command->decode, "Lines are ids; print the text");
  sub->add_flag("--no-special", command->no_special, "Add no special tokens; with --decode, leave them out");
  sub->add_option("--max-length", command->max_length, "Truncate to this many tokens")->type_name("N");
  sub->callback([command] { tokenize(*command); });
}

}  // namespace sardonyx::cli
