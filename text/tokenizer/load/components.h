#pragma once

#include <memory>

#include "text/tokenizer/load/json.h"
#include "text/tokenizer/load/parts.h"

namespace sardonyx::text {

// One component each from its JSON object. All throw Error kInvalidModel where the description is broken and kUnsupported
// where the type is unknown.
std::unique_ptr<Normalizer> make_normalizer(json::Element description);
std::unique_ptr<PreTokenizer> make_pre_tokenizer(json::Element description);
std::unique_ptr<Model> make_model(json::Element description);
std::unique_ptr<PostProcessor> make_post_processor(json::Element description);
std::unique_ptr<Decoder> make_decoder(json::Element description);

}  // namespace sardonyx::text
