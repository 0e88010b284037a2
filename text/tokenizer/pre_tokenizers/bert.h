#pragma once

#include "text/tokenizer/pre_tokenizers/pre_tokenizer.h"

namespace sardonyx::text {

/// Cuts at whitespace, which is dropped, and makes every punctuation character a piece of its own.
class BertPreTokenizer : public PreTokenizer {
 public:
  void pre_tokenize(PreTokenized& sequence) const override;
};

}  // namespace sardonyx::text
