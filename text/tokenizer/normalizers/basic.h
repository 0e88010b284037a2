#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "text/tokenizer/normalizers/normalizer.h"
#include "text/tokenizer/patterns/pattern.h"

namespace sardonyx::text {

/// Normalizers one after the other.
class SequenceNormalizer : public Normalizer {
 public:
  explicit SequenceNormalizer(std::vector<std::unique_ptr<Normalizer>> steps) : steps_(std::move(steps)) {}
  void normalize(AlignedText& text) const override {
    for (const auto& step : steps_) step->normalize(text);
  }

 private:
  std::vector<std::unique_ptr<Normalizer>> steps_;
};

/// Each character's own lowercase, whatever stands around it.
class LowercaseNormalizer : public Normalizer {
 public:
  void normalize(AlignedText& text) const override;
};

/// Drops whitespace at the ends.
class StripNormalizer : public Normalizer {
 public:
  StripNormalizer(bool left, bool right) : left_(left), right_(right) {}
  void normalize(AlignedText& text) const override;

 private:
  bool left_, right_;
};

/// Drops combining marks; decomposes nothing.
class StripAccentsNormalizer : public Normalizer {
 public:
  void normalize(AlignedText& text) const override;
};

/// The Nmt rules of SentencePiece: drops control characters and makes odd spaces plain ones.
class NmtNormalizer : public Normalizer {
 public:
  void normalize(AlignedText& text) const override;
};

/// Puts a string before a text that is not empty.
class PrependNormalizer : public Normalizer {
 public:
  explicit PrependNormalizer(std::string prefix) : prefix_(std::move(prefix)) {}
  void normalize(AlignedText& text) const override;

 private:
  std::string prefix_;
};

/// Writes every byte as the printable character that stands for it in byte-level vocabularies.
class ByteLevelNormalizer : public Normalizer {
 public:
  void normalize(AlignedText& text) const override;
};

/// Replaces every match of a pattern.
class ReplaceNormalizer : public Normalizer {
 public:
  ReplaceNormalizer(std::unique_ptr<Pattern> pattern, std::string content)
      : pattern_(std::move(pattern)), content_(std::move(content)) {}
  void normalize(AlignedText& text) const override;

 private:
  std::unique_ptr<Pattern> pattern_;
  std::string content_;
};

/// Puts `prefix` before the text; its first character takes the place of the text's first one, which shares it.
void prepend(AlignedText& text, std::string_view prefix);

}  // namespace sardonyx::text
