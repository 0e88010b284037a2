#pragma once

#include "text/tokenizer/normalizers/normalizer.h"

namespace sardonyx::text {

/// NFC, NFD, NFKC and NFKD.
class UnicodeNormalizer : public Normalizer {
 public:
  UnicodeNormalizer(bool compatible, bool composes) : compatible_(compatible), composes_(composes) {}
  void normalize(AlignedText& text) const override;

 private:
  bool compatible_, composes_;
};

}  // namespace sardonyx::text
