#pragma once

#include <string_view>

#include "text/tokenizer/load/parts.h"

namespace sardonyx::text {

/// The parts of a SentencePiece .model file (its protobuf): Unigram or BPE, the character map, and how spaces are
/// treated. There is no post-processor: that knowledge lies with the model's family. Throws Error kInvalidModel where
/// the file is damaged.
TokenizerParts parse_sentence_piece(std::string_view bytes);

/// Whether the bytes look like a SentencePiece model: a first field 1 of type bytes.
bool looks_like_sentence_piece(std::string_view bytes);

}  // namespace sardonyx::text
