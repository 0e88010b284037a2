#include "base/fail.h"
#include "text/tokenizer/load/components.h"
#include "text/tokenizer/load/metaspace.h"
#include "text/tokenizer/pre_tokenizers/basic.h"
#include "text/tokenizer/pre_tokenizers/bert.h"
#include "text/tokenizer/pre_tokenizers/byte_level.h"
#include "text/tokenizer/unicode/properties.h"
#include "text/tokenizer/utf8.h"

namespace sardonyx::text {

std::unique_ptr<Pattern> make_pattern(json::Element description) {
  if (description.is_string()) return make_literal_pattern(json::string(description, "pattern"));
  const json::Object object = json::object(description, "pattern");
  if (const auto literal = json::find(object, "String"))
    return make_literal_pattern(json::string(*literal, "pattern.String"));
  return make_regex_pattern(json::get_string(object, "Regex", "pattern"));
}

std::string make_character(json::Object parent, std::string_view key) {
  const std::string_view text = json::get_string(parent, key, "a component");
  if (utf8_count(text) != 1)
    fail(ErrorCode::kInvalidModel, "tokenizer file: {} '{}' should be one character", key, text);
  return std::string(text);
}

Metaspace read_metaspace(json::Object object) {
  Metaspace result;
  result.replacement = make_character(object, "replacement");
  const std::string_view scheme = json::get_string_or(object, "prepend_scheme", "always", "Metaspace");
  if (scheme == "never") {
    result.scheme = PrependScheme::kNever;
  } else if (scheme == "first") {
    result.scheme = PrependScheme::kFirst;
  } else if (scheme != "always") {
    fail(ErrorCode::kInvalidModel, "tokenizer file: prepend_scheme '{}' should be always, first or never", scheme);
  }
  if (!json::get_bool_or(object, "add_prefix_space", true, "Metaspace")) {
    if (json::find(object, "prepend_scheme") && result.scheme != PrependScheme::kNever) {
      fail(ErrorCode::kInvalidModel, "tokenizer file: add_prefix_space is false but prepend_scheme is '{}'", scheme);
    }
    result.scheme = PrependScheme::kNever;
  }
  result.split = json::get_bool_or(object, "split", true, "Metaspace");
  return result;
}

namespace {

SplitBehavior behavior_of(std::string_view name) {
  if (name == "Removed") return SplitBehavior::kRemoved;
  if (name == "Isolated") return SplitBehavior::kIsolated;
  if (name == "MergedWithPrevious") return SplitBehavior::kMergedWithPrevious;
  if (name == "MergedWithNext") return SplitBehavior::kMergedWithNext;
  if (name == "Contiguous") return SplitBehavior::kContiguous;
  fail(ErrorCode::kInvalidModel, "tokenizer file: split behavior '{}' is unknown", name);
}

using Result = std::unique_ptr<PreTokenizer>;

Result make_sequence(json::Object object) {
  std::vector<std::unique_ptr<PreTokenizer>> steps;
  for (const json::Element step : json::array(json::get(object, "pretokenizers", "Sequence"), "pretokenizers")) {
    steps.push_back(make_pre_tokenizer(step));
  }
  return std::make_unique<SequencePreTokenizer>(std::move(steps));
}

Result make_fixed_length(json::Object object) {
  const auto length = json::find(object, "length");
  const std::uint32_t characters = length ? json::uint32(*length, "length") : 5;
  if (characters == 0) fail(ErrorCode::kInvalidModel, "tokenizer file: FixedLength has length 0; at least 1 is needed");
  return std::make_unique<FixedLengthPreTokenizer>(characters);
}

Result make_metaspace(json::Object object) {
  const Metaspace metaspace = read_metaspace(object);
  return std::make_unique<MetaspacePreTokenizer>(metaspace.replacement, metaspace.scheme, metaspace.split);
}

Result make_digits(json::Object object) {
  const bool individual = json::get_bool(object, "individual_digits", "Digits");
  return std::make_unique<CharacterPreTokenizer>(kNumeric,
                                                 individual ? SplitBehavior::kIsolated : SplitBehavior::kContiguous);
}

Result make_split(json::Object object) {
  return std::make_unique<SplitPreTokenizer>(make_pattern(json::get(object, "pattern", "Split")),
                                             behavior_of(json::get_string(object, "behavior", "Split")),
                                             json::get_bool(object, "invert", "Split"));
}

Result make_delimiter(json::Object object) {
  return std::make_unique<SplitPreTokenizer>(make_literal_pattern(make_character(object, "delimiter")),
                                             SplitBehavior::kRemoved, false);
}

struct Row {
  std::string_view type;
  Result (*make)(json::Object);
};

constexpr Row kPreTokenizers[] = {
    {"BertPreTokenizer", [](json::Object) -> Result { return std::make_unique<BertPreTokenizer>(); }},
    {"ByteLevel",
     [](json::Object object) -> Result {
       return std::make_unique<ByteLevelPreTokenizer>(json::get_bool(object, "add_prefix_space", "ByteLevel"),
                                                      json::get_bool_or(object, "use_regex", true, "ByteLevel"));
     }},
    {"CharDelimiterSplit", make_delimiter},
    {"Digits", make_digits},
    {"FixedLength", make_fixed_length},
    {"Metaspace", make_metaspace},
    {"Punctuation",
     [](json::Object object) -> Result {
       return std::make_unique<CharacterPreTokenizer>(
           kPunctuation, behavior_of(json::get_string_or(object, "behavior", "Isolated", "Punctuation")));
     }},
    {"Sequence", make_sequence},
    {"Split", make_split},
    {"UnicodeScripts", [](json::Object) -> Result { return std::make_unique<UnicodeScriptsPreTokenizer>(); }},
    {"Whitespace", [](json::Object) -> Result { return std::make_unique<WhitespacePreTokenizer>(); }},
    {"WhitespaceSplit",
     [](json::Object) -> Result {
       return std::make_unique<CharacterPreTokenizer>(kWhitespace, SplitBehavior::kRemoved);
     }},
};

}  // namespace

std::unique_ptr<PreTokenizer> make_pre_tokenizer(json::Element description) {
  const json::Object object = json::object(description, "pre_tokenizer");
  const std::string_view type = json::get_string(object, "type", "pre_tokenizer");
  for (const Row& row : kPreTokenizers) {
    if (row.type == type) return row.make(object);
  }
  fail(ErrorCode::kUnsupported, "tokenizer file: pre_tokenizer type '{}' is unknown", type);
}

}  // namespace sardonyx::text
