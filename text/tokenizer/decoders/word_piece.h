#pragma once

#include <string>
#include <utility>

#include "text/tokenizer/decoders/decoder.h"

namespace sardonyx::text {

/// Takes back the spaces that tokenization puts before punctuation and English contractions.
std::string clean_up(std::string text);

/// Joins continuing pieces and puts spaces before the others; `cleanup` takes back spaces before punctuation.
class WordPieceDecoder : public Decoder {
 public:
  WordPieceDecoder(std::string prefix, bool cleanup) : prefix_(std::move(prefix)), cleanup_(cleanup) {}
  std::vector<std::string> decode(std::vector<std::string> tokens) const override;

 private:
  std::string prefix_;
  bool cleanup_;
};

}  // namespace sardonyx::text
