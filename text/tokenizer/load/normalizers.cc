#include "base/fail.h"
#include "text/tokenizer/load/components.h"
#include "text/tokenizer/normalizers/bert.h"

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

}  // namespace

std::unique_ptr<Normalizer> make_normalizer(json::Element description) {
  const json::Object object = json::object(description, "normalizer");
  const std::string_view type = json::get_string(object, "type", "normalizer");
  if (type == "BertNormalizer") return make_bert(object);
  fail(ErrorCode::kUnsupported, "tokenizer file: normalizer type '{}' is unknown", type);
}

}  // namespace sardonyx::text
