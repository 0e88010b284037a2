#pragma once

#include <memory>

#include "text/tokenizer/load/document.h"
#include "text/tokenizer/load/json.h"
#include "text/tokenizer/load/parts.h"
#include "text/tokenizer/patterns/pattern.h"

namespace sardonyx::text {

// One component each from its JSON object. All throw Error kInvalidModel where the description is broken and
// kUnsupported where the type is unknown.
std::unique_ptr<Normalizer> make_normalizer(json::Element description);
std::unique_ptr<PreTokenizer> make_pre_tokenizer(json::Element description);
/// The tables of the model, which the description lacks, are read from `document`.
std::unique_ptr<Model> make_model(json::Element description, Document& document);
std::unique_ptr<PostProcessor> make_post_processor(json::Element description);
std::unique_ptr<Decoder> make_decoder(json::Element description);

/// {"String": literal} or {"Regex": expression}.
std::unique_ptr<Pattern> make_pattern(json::Element description);
/// A string of one character.
std::string make_character(json::Object parent, std::string_view key);

}  // namespace sardonyx::text
