// Serves one tokenizer over stdin and stdout, for the comparison with the reference (dump_client.py is the other end).
//
// A request is a JSON line, then `bytes` bytes of payload; an answer is a little-endian u32 length and that many bytes,
// the first of which is 0 for success or 1 for an error message.

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <time.h>
#include <vector>

#include "sardonyx/error.h"

#include "text/tokenizer/tokenizer.h"

namespace {

using nlohmann::json;
using sardonyx::text::Direction;
using sardonyx::text::EncodeInput;
using sardonyx::text::EncodeOptions;
using sardonyx::text::Encoding;
using sardonyx::text::Padding;
using sardonyx::text::TextInput;
using sardonyx::text::Tokenizer;
using sardonyx::text::Truncation;
using sardonyx::text::TruncationStrategy;

void put(std::string& out, std::uint32_t value) { out.append(reinterpret_cast<const char*>(&value), 4); }

template <typename T>
void put_column(std::string& out, const std::vector<T>& column) {
  out.append(reinterpret_cast<const char*>(column.data()), column.size() * sizeof(T));
}

void put_encoding(std::string& out, const Encoding& encoding) {
  put(out, static_cast<std::uint32_t>(encoding.size()));
  put_column(out, encoding.ids);
  put_column(out, encoding.type_ids);
  put_column(out, encoding.offsets);
  put_column(out, encoding.word_ids);
  put_column(out, encoding.sequence_ids());
  put_column(out, encoding.special_tokens_mask);
  put_column(out, encoding.attention_mask);
  for (const std::string& token : encoding.tokens) put(out, static_cast<std::uint32_t>(token.size()));
  for (const std::string& token : encoding.tokens) out += token;
  put(out, static_cast<std::uint32_t>(encoding.overflowing.size()));
  for (const Encoding& piece : encoding.overflowing) put_encoding(out, piece);
}

/// Reads the payload: u32 numbers and length-prefixed strings.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  std::uint32_t number() {
    std::uint32_t value = 0;
    std::memcpy(&value, bytes_.data() + at_, 4);
    at_ += 4;
    return value;
  }
  std::string_view string() {
    const std::uint32_t size = number();
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }
  bool done() const { return at_ >= bytes_.size(); }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

/// One or two texts: 0 and a string, or 1, a count, and the words.
TextInput read_text(Reader& reader, std::vector<std::string_view>& words) {
  if (reader.number() == 0) return TextInput(reader.string());
  words.resize(reader.number());
  for (std::string_view& word : words) word = reader.string();
  return TextInput(std::span<const std::string_view>(words));
}

EncodeOptions options_from(const json& request) {
  EncodeOptions options;
  options.add_special_tokens = request.value("add_special_tokens", true);
  options.use_defaults = request.value("use_defaults", true);
  if (const auto it = request.find("truncation"); it != request.end() && !it->is_null()) {
    Truncation& truncation = options.truncation.emplace();
    truncation.max_length = it->at("max_length");
    truncation.stride = it->value("stride", 0);
    const std::string strategy = it->value("strategy", "longest_first");
    truncation.strategy = strategy == "only_first"    ? TruncationStrategy::kOnlyFirst
                          : strategy == "only_second" ? TruncationStrategy::kOnlySecond
                                                      : TruncationStrategy::kLongestFirst;
    truncation.direction = it->value("direction", "right") == "left" ? Direction::kLeft : Direction::kRight;
  }
  if (const auto it = request.find("padding"); it != request.end() && !it->is_null()) {
    Padding& padding = options.padding.emplace();
    if (it->contains("length") && !it->at("length").is_null())
      padding.fixed_length = it->at("length").get<std::size_t>();
    if (it->contains("pad_to_multiple_of") && !it->at("pad_to_multiple_of").is_null()) {
      padding.multiple_of = it->at("pad_to_multiple_of");
    }
    padding.direction = it->value("direction", "right") == "left" ? Direction::kLeft : Direction::kRight;
    padding.pad_id = it->value("pad_id", 0u);
    padding.pad_type_id = it->value("pad_type_id", 0u);
    padding.pad_token = it->value("pad_token", "[PAD]");
  }
  return options;
}

std::string encode_each(const Tokenizer& tokenizer, const EncodeOptions& options, std::string_view payload) {
  std::string out;
  Reader reader(payload);
  while (!reader.done()) {
    std::vector<std::string_view> first_words, second_words;
    const bool is_pair = reader.number() != 0;
    const TextInput first = read_text(reader, first_words);
    const std::optional<TextInput> second = is_pair ? std::optional(read_text(reader, second_words)) : std::nullopt;
    std::string answer;
    try {
      const EncodeInput input = second ? EncodeInput(first, *second) : EncodeInput(first);
      put_encoding(answer, tokenizer.encode(input, options));
      put(out, 0);
    } catch (const sardonyx::Error& error) {
      answer = error.what();
      put(out, 1);
    }
    put(out, static_cast<std::uint32_t>(answer.size()));
    out += answer;
  }
  return out;
}

std::string encode_batch(const Tokenizer& tokenizer, const EncodeOptions& options, std::string_view payload) {
  Reader reader(payload);
  std::vector<EncodeInput> inputs;
  std::vector<std::string_view> words;
  while (!reader.done()) {
    const bool is_pair = reader.number() != 0;
    const TextInput first = read_text(reader, words);
    inputs.push_back(is_pair ? EncodeInput(first, read_text(reader, words)) : EncodeInput(first));
  }
  std::string out;
  for (const Encoding& encoding : tokenizer.encode_batch(inputs, options)) put_encoding(out, encoding);
  return out;
}

std::vector<std::uint32_t> ids_from(std::string_view payload) {
  std::vector<std::uint32_t> ids(payload.size() / 4);
  if (!ids.empty()) std::memcpy(ids.data(), payload.data(), ids.size() * 4);
  return ids;
}

/// CPU time of the process, which other processes do not disturb.
double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// CPU seconds that `repeats` runs of encode_batch take, with all results freed in between.
std::string time_batch(const Tokenizer& tokenizer, const json& request, std::string_view payload) {
  Reader reader(payload);
  std::vector<EncodeInput> inputs;
  while (!reader.done()) inputs.emplace_back(reader.string());
  const EncodeOptions options = options_from(request);
  const double start = cpu_seconds();
  std::size_t tokens = 0;
  for (int i = 0; i < request.value("repeats", 1); ++i) {
    for (const Encoding& encoding : tokenizer.encode_batch(inputs, options)) tokens += encoding.size();
  }
  return json{{"seconds", cpu_seconds() - start}, {"tokens", tokens}}.dump();
}

std::string load(std::optional<Tokenizer>& tokenizer, const json& request) {
  const std::string path = request.at("path");
  const double start = cpu_seconds();
  tokenizer.emplace(request.value("folder", false) ? Tokenizer::from_folder(path) : Tokenizer::from_file(path));
  const double seconds = cpu_seconds() - start;
  const auto& config = tokenizer->config();
  json known = {{"special_tokens", config.special_tokens}};
  if (config.model_max_length) known["model_max_length"] = *config.model_max_length;
  if (config.do_lower_case) known["do_lower_case"] = *config.do_lower_case;
  return json{{"seconds", seconds},
              {"config", std::move(known)},
              {"model_type", tokenizer->model_type()},
              {"vocab_size", tokenizer->vocab_size()},
              {"model_vocab_size", tokenizer->vocab_size(false)},
              {"special_single", tokenizer->special_tokens_count(false)},
              {"special_pair", tokenizer->special_tokens_count(true)}}
      .dump();
}

std::string add_tokens(Tokenizer& tokenizer, const json& request) {
  std::vector<sardonyx::text::AddedToken> tokens;
  for (const json& token : request.at("tokens")) {
    tokens.push_back({.content = token.at("content"),
                      .single_word = token.at("single_word"),
                      .lstrip = token.at("lstrip"),
                      .rstrip = token.at("rstrip"),
                      .normalized = token.at("normalized"),
                      .special = token.at("special")});
  }
  return std::to_string(tokenizer.add_tokens(tokens));
}

std::string id_table(const Tokenizer& tokenizer, std::string_view payload) {
  std::string out;
  for (std::uint32_t id : ids_from(payload)) {
    const auto token = tokenizer.id_to_token(id);
    const auto back = token ? tokenizer.token_to_id(*token) : std::nullopt;
    put(out, token ? 1 : 0);
    put(out, back.value_or(0xFFFFFFFF));
    put(out, static_cast<std::uint32_t>(token.value_or("").size()));
    out += token.value_or("");
  }
  return out;
}

std::string answer(std::optional<Tokenizer>& tokenizer, const json& request, std::string_view payload) {
  const std::string op = request.at("op");
  if (op == "load") return load(tokenizer, request);
  if (op == "encode") return encode_each(*tokenizer, options_from(request), payload);
  if (op == "encode_batch") return encode_batch(*tokenizer, options_from(request), payload);
  if (op == "decode") return tokenizer->decode(ids_from(payload), request.value("skip_special_tokens", true));
  if (op == "ids") return id_table(*tokenizer, payload);
  if (op == "sizes") return json{tokenizer->vocab_size(true), tokenizer->vocab_size(false)}.dump();
  if (op == "add_tokens") return add_tokens(*tokenizer, request);
  if (op == "encode_special_tokens") return tokenizer->set_encode_special_tokens(request.at("on")), "";
  if (op == "time") return time_batch(*tokenizer, request, payload);
  throw sardonyx::Error(sardonyx::ErrorCode::kInvalidArgument, "unknown request " + op);
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  std::optional<Tokenizer> tokenizer;
  std::string line;
  while (std::getline(std::cin, line)) {
    const json request = json::parse(line);
    std::string payload(request.value("bytes", std::size_t{0}), '\0');
    std::cin.read(payload.data(), static_cast<std::streamsize>(payload.size()));
    std::string body;
    try {
      body = std::string(1, '\0') + answer(tokenizer, request, payload);
    } catch (const std::exception& error) {
      body = std::string(1, '\1') + error.what();
    }
    const auto size = static_cast<std::uint32_t>(body.size());
    std::cout.write(reinterpret_cast<const char*>(&size), 4);
    std::cout.write(body.data(), static_cast<std::streamsize>(body.size()));
    std::cout.flush();
  }
  return 0;
}
