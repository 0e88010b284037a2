#pragma once

#include "text/tokenizer/pre_tokenizers/pre_tokenizer.h"

namespace sardonyx::text {

/// Cuts as GPT-2 does (`use_regex`), after putting a space before pieces that have none (`add_prefix_space`), and
/// writes every byte as the printable character that stands for it.
class ByteLevelPreTokenizer : public PreTokenizer {
 public:
  ByteLevelPreTokenizer(bool add_prefix_space, bool use_regex)
      : add_prefix_space_(add_prefix_space), use_regex_(use_regex) {}
  void pre_tokenize(PreTokenized& sequence) const override;

  /// Leaves the bytes as they are, for a model that reads them so.
  void keep_bytes() { keeps_bytes_ = true; }

 private:
  bool add_prefix_space_, use_regex_;
  bool keeps_bytes_ = false;
};

}  // namespace sardonyx::text
