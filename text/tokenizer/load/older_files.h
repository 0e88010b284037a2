#pragma once

#include <string>
#include <string_view>

#include "text/tokenizer/load/parts.h"

namespace sardonyx::text {

/// BERT's vocab.txt, a word a line: the whole BERT tokenizer around it. `lowercase` is do_lower_case of the
/// configuration.
TokenizerParts parse_vocab_txt(std::string_view text, bool lowercase);

/// vocab.json and merges.txt of GPT-2 and RoBERTa: byte-level BPE. With `<s>` and `</s>` in the vocabulary the
/// post-processor is RoBERTa's.
TokenizerParts parse_vocab_and_merges(std::string_view vocab_json, std::string_view merges_txt);

}  // namespace sardonyx::text
