#include "base/fail.h"
#include "text/tokenizer/load/components.h"
#include "text/tokenizer/pre_tokenizers/bert.h"

namespace sardonyx::text {

std::unique_ptr<PreTokenizer> make_pre_tokenizer(json::Element description) {
  const json::Object object = json::object(description, "pre_tokenizer");
  const std::string_view type = json::get_string(object, "type", "pre_tokenizer");
  if (type == "BertPreTokenizer") return std::make_unique<BertPreTokenizer>();
  fail(ErrorCode::kUnsupported, "tokenizer file: pre_tokenizer type '{}' is unknown", type);
}

}  // namespace sardonyx::text
