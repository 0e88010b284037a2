#include <utility>

#include "base/fail.h"
#include "text/tokenizer/load/components.h"
#include "text/tokenizer/load/document.h"

namespace sardonyx::text {

namespace {

Direction direction_of(std::string_view name) {
  if (name == "Right") return Direction::kRight;
  if (name == "Left") return Direction::kLeft;
  fail(ErrorCode::kInvalidModel, "tokenizer file: direction '{}' should be Left or Right", name);
}

TruncationStrategy strategy_of(std::string_view name) {
  if (name == "LongestFirst") return TruncationStrategy::kLongestFirst;
  if (name == "OnlyFirst") return TruncationStrategy::kOnlyFirst;
  if (name == "OnlySecond") return TruncationStrategy::kOnlySecond;
  fail(ErrorCode::kInvalidModel,
       "tokenizer file: truncation strategy '{}' should be LongestFirst, OnlyFirst or OnlySecond", name);
}

Truncation make_truncation(json::Element description) {
  const json::Object object = json::object(description, "truncation");
  Truncation truncation;
  truncation.direction = direction_of(json::get_string_or(object, "direction", "Right", "truncation"));
  truncation.strategy = strategy_of(json::get_string(object, "strategy", "truncation"));
  truncation.max_length = json::uint32(json::get(object, "max_length", "truncation"), "truncation.max_length");
  truncation.stride = json::uint32(json::get(object, "stride", "truncation"), "truncation.stride");
  return truncation;
}

Padding make_padding(json::Element description) {
  const json::Object object = json::object(description, "padding");
  Padding padding;
  const json::Element strategy = json::get(object, "strategy", "padding");
  if (strategy.is_object()) {
    padding.fixed_length =
        json::uint32(json::get(json::object(strategy, "strategy"), "Fixed", "padding.strategy"), "Fixed");
  } else if (const std::string_view name = json::string(strategy, "padding.strategy"); name != "BatchLongest") {
    fail(ErrorCode::kInvalidModel,
         "tokenizer file: padding strategy '{}' should be BatchLongest or {{\"Fixed\": length}}", name);
  }
  padding.direction = direction_of(json::get_string(object, "direction", "padding"));
  if (const auto multiple = json::find(object, "pad_to_multiple_of")) {
    padding.multiple_of = json::uint32(*multiple, "padding.pad_to_multiple_of");
  }
  padding.pad_id = json::uint32(json::get(object, "pad_id", "padding"), "padding.pad_id");
  padding.pad_type_id = json::uint32(json::get(object, "pad_type_id", "padding"), "padding.pad_type_id");
  padding.pad_token = json::get_string(object, "pad_token", "padding");
  return padding;
}

std::vector<AddedToken> make_added_tokens(json::Element list) {
  std::vector<AddedToken> tokens;
  for (const json::Element element : json::array(list, "added_tokens")) {
    const json::Object object = json::object(element, "an added token");
    AddedToken token;
    token.content = json::get_string(object, "content", "an added token");
    token.single_word = json::get_bool(object, "single_word", "an added token");
    token.lstrip = json::get_bool(object, "lstrip", "an added token");
    token.rstrip = json::get_bool(object, "rstrip", "an added token");
    token.normalized = json::get_bool(object, "normalized", "an added token");
    token.special = json::get_bool(object, "special", "an added token");
    tokens.push_back(std::move(token));
  }
  return tokens;
}

}  // namespace

TokenizerParts parse_tokenizer_json(std::string_view text, std::size_t readable) {
  Document document(text, readable, "the tokenizer file");
  const json::Object root = document.tree();
  if (const auto version = json::find(root, "version"); version && json::string(*version, "version") != "1.0") {
    fail(ErrorCode::kUnsupported, "tokenizer file: version '{}' is unknown; 1.0 is supported",
         json::string(*version, "version"));
  }
  TokenizerParts parts;
  parts.model = make_model(json::get(root, "model", "the tokenizer file"), document);
  if (const auto part = json::find(root, "normalizer")) parts.normalizer = make_normalizer(*part);
  if (const auto part = json::find(root, "pre_tokenizer")) parts.pre_tokenizer = make_pre_tokenizer(*part);
  if (const auto part = json::find(root, "post_processor")) parts.post_processor = make_post_processor(*part);
  if (const auto part = json::find(root, "decoder")) parts.decoder = make_decoder(*part);
  if (const auto part = json::find(root, "added_tokens")) parts.added_tokens = make_added_tokens(*part);
  if (const auto part = json::find(root, "truncation")) parts.truncation = make_truncation(*part);
  if (const auto part = json::find(root, "padding")) parts.padding = make_padding(*part);
  return parts;
}

}  // namespace sardonyx::text
