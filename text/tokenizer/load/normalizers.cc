#include "base/fail.h"
#include "text/tokenizer/load/base64.h"
#include "text/tokenizer/load/components.h"
#include "text/tokenizer/normalizers/basic.h"
#include "text/tokenizer/normalizers/bert.h"
#include "text/tokenizer/normalizers/precompiled.h"
#include "text/tokenizer/normalizers/unicode.h"

namespace sardonyx::text {

namespace {

std::unique_ptr<Normalizer> make_bert(json::Object description) {
  BertNormalizer::Options options;
  options.clean_text = json::get_bool(description, "clean_text", "BertNormalizer");
  options.handle_chinese_chars = json::get_bool(description, "handle_chinese_chars", "BertNormalizer");
  options.lowercase = json::get_bool(description, "lowercase", "BertNormalizer");
  options.strip_accents = json::get_bool_or(description, "strip_accents", options.lowercase, "BertNormalizer");
  return std::make_unique<BertNormalizer>(options);
}

std::unique_ptr<Normalizer> make_sequence(json::Object description) {
  std::vector<std::unique_ptr<Normalizer>> steps;
  for (const json::Element step : json::array(json::get(description, "normalizers", "Sequence"), "normalizers")) {
    steps.push_back(make_normalizer(step));
  }
  return std::make_unique<SequenceNormalizer>(std::move(steps));
}

using Maker = std::unique_ptr<Normalizer> (*)(json::Object);

struct Row {
  std::string_view type;
  Maker make;
};

constexpr Row kNormalizers[] = {
    {"BertNormalizer", make_bert},
    {"Bert", make_bert},
    {"ByteLevel", [](json::Object) -> std::unique_ptr<Normalizer> { return std::make_unique<ByteLevelNormalizer>(); }},
    {"Lowercase", [](json::Object) -> std::unique_ptr<Normalizer> { return std::make_unique<LowercaseNormalizer>(); }},
    {"NFC",
     [](json::Object) -> std::unique_ptr<Normalizer> { return std::make_unique<UnicodeNormalizer>(false, true); }},
    {"NFD",
     [](json::Object) -> std::unique_ptr<Normalizer> { return std::make_unique<UnicodeNormalizer>(false, false); }},
    {"NFKC",
     [](json::Object) -> std::unique_ptr<Normalizer> { return std::make_unique<UnicodeNormalizer>(true, true); }},
    {"NFKD",
     [](json::Object) -> std::unique_ptr<Normalizer> { return std::make_unique<UnicodeNormalizer>(true, false); }},
    {"Nmt", [](json::Object) -> std::unique_ptr<Normalizer> { return std::make_unique<NmtNormalizer>(); }},
    {"Precompiled",
     [](json::Object object) -> std::unique_ptr<Normalizer> {
       return std::make_unique<PrecompiledNormalizer>(
           decode_base64(json::get_string(object, "precompiled_charsmap", "Precompiled")));
     }},
    {"Prepend",
     [](json::Object object) -> std::unique_ptr<Normalizer> {
       return std::make_unique<PrependNormalizer>(std::string(json::get_string(object, "prepend", "Prepend")));
     }},
    {"Replace",
     [](json::Object object) -> std::unique_ptr<Normalizer> {
       return std::make_unique<ReplaceNormalizer>(make_pattern(json::get(object, "pattern", "Replace")),
                                                  std::string(json::get_string(object, "content", "Replace")));
     }},
    {"Sequence", make_sequence},
    {"Strip",
     [](json::Object object) -> std::unique_ptr<Normalizer> {
       return std::make_unique<StripNormalizer>(json::get_bool(object, "strip_left", "Strip"),
                                                json::get_bool(object, "strip_right", "Strip"));
     }},
    {"StripAccents",
     [](json::Object) -> std::unique_ptr<Normalizer> { return std::make_unique<StripAccentsNormalizer>(); }},
};

}  // namespace

std::unique_ptr<Normalizer> make_normalizer(json::Element description) {
  const json::Object object = json::object(description, "normalizer");
  const std::string_view type = json::get_string(object, "type", "normalizer");
  for (const Row& row : kNormalizers) {
    if (row.type == type) return row.make(object);
  }
  fail(ErrorCode::kUnsupported, "tokenizer file: normalizer type '{}' is unknown", type);
}

}  // namespace sardonyx::text
