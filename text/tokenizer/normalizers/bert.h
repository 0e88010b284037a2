#pragma once

#include "text/tokenizer/normalizers/normalizer.h"

namespace sardonyx::text {

/// BERT's cleaning in one pass: drops control characters and makes every whitespace a space (`clean_text`), puts spaces
/// around CJK ideographs, decomposes and drops nonspacing marks (`strip_accents`), and lowercases.
class BertNormalizer : public Normalizer {
 public:
  struct Options {
    bool clean_text = true;
    bool handle_chinese_chars = true;
    bool strip_accents = true;
    bool lowercase = true;
  };

  explicit BertNormalizer(Options options);
  void normalize(AlignedText& text) const override;

 private:
  Options options_;
  char ascii_[128];    ///< what an ASCII character becomes
  bool removed_[128];  ///< ASCII characters that cleaning drops
};

}  // namespace sardonyx::text
