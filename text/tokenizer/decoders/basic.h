#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "text/tokenizer/decoders/decoder.h"
#include "text/tokenizer/patterns/pattern.h"

namespace sardonyx::text {

/// Decoders one after the other.
class SequenceDecoder : public Decoder {
 public:
  explicit SequenceDecoder(std::vector<std::unique_ptr<Decoder>> steps) : steps_(std::move(steps)) {}
  std::vector<std::string> decode(std::vector<std::string> tokens) const override {
    for (const auto& step : steps_) tokens = step->decode(std::move(tokens));
    return tokens;
  }

 private:
  std::vector<std::unique_ptr<Decoder>> steps_;
};

/// Writes the end-of-word suffix as a space, the last token's as nothing.
class BpeDecoder : public Decoder {
 public:
  explicit BpeDecoder(std::string suffix) : suffix_(std::move(suffix)) {}
  std::vector<std::string> decode(std::vector<std::string> tokens) const override;

 private:
  std::string suffix_;
};

/// Byte-level characters back to bytes; what is not UTF-8 then becomes U+FFFD.
class ByteLevelDecoder : public Decoder {
 public:
  std::vector<std::string> decode(std::vector<std::string> tokens) const override;
};

/// Runs of <0xNN> tokens back to text; a run that is not UTF-8 becomes one U+FFFD per token.
class ByteFallbackDecoder : public Decoder {
 public:
  std::vector<std::string> decode(std::vector<std::string> tokens) const override;
};

/// Everything in one string.
class FuseDecoder : public Decoder {
 public:
  std::vector<std::string> decode(std::vector<std::string> tokens) const override;
};

/// Takes up to `start` and `stop` characters `content` off the ends of each token.
class StripDecoder : public Decoder {
 public:
  StripDecoder(std::string content, std::size_t start, std::size_t stop)
      : content_(std::move(content)), start_(start), stop_(stop) {}
  std::vector<std::string> decode(std::vector<std::string> tokens) const override;

 private:
  std::string content_;  ///< one character
  std::size_t start_, stop_;
};

/// Replaces every match of a pattern within each token.
class ReplaceDecoder : public Decoder {
 public:
  ReplaceDecoder(std::unique_ptr<Pattern> pattern, std::string content)
      : pattern_(std::move(pattern)), content_(std::move(content)) {}
  std::vector<std::string> decode(std::vector<std::string> tokens) const override;

 private:
  std::unique_ptr<Pattern> pattern_;
  std::string content_;
};

/// The visible space back to spaces; those of the first token vanish unless nothing was ever put before the text.
class MetaspaceDecoder : public Decoder {
 public:
  MetaspaceDecoder(std::string replacement, bool prepends)
      : replacement_(std::move(replacement)), prepends_(prepends) {}
  std::vector<std::string> decode(std::vector<std::string> tokens) const override;

 private:
  std::string replacement_;
  bool prepends_;
};

/// Connectionist temporal classification: drops repeats and padding, turns word delimiters into spaces.
class CtcDecoder : public Decoder {
 public:
  CtcDecoder(std::string pad_token, std::string word_delimiter, bool cleanup)
      : pad_token_(std::move(pad_token)), word_delimiter_(std::move(word_delimiter)), cleanup_(cleanup) {}
  std::vector<std::string> decode(std::vector<std::string> tokens) const override;

 private:
  std::string pad_token_, word_delimiter_;
  bool cleanup_;
};

}  // namespace sardonyx::text
