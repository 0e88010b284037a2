#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer/decoders/decoder.h"
#include "text/tokenizer/models/model.h"
#include "text/tokenizer/normalizers/normalizer.h"
#include "text/tokenizer/pre_tokenizers/pre_tokenizer.h"
#include "text/tokenizer/processors/post_processor.h"
#include "text/tokenizer/tokenizer.h"

namespace sardonyx::text {

/// What a tokenizer is made of. Only the model is always there.
struct TokenizerParts {
  std::unique_ptr<Normalizer> normalizer;
  std::unique_ptr<PreTokenizer> pre_tokenizer;
  std::unique_ptr<Model> model;
  std::unique_ptr<PostProcessor> post_processor;
  std::unique_ptr<Decoder> decoder;
  std::vector<AddedToken> added_tokens;
  std::optional<Truncation> truncation;
  std::optional<Padding> padding;
};

/// Builds the parts that a tokenizer.json describes. `readable` bytes from the start of the text may be read; where
/// these are more than it has, a copy may be saved. Throws Error kInvalidModel or kUnsupported, naming the component.
TokenizerParts parse_tokenizer_json(std::string_view text, std::size_t readable);

}  // namespace sardonyx::text
