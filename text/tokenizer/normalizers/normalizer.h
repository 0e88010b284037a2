#pragma once

#include "text/tokenizer/aligned_text.h"

namespace sardonyx::text {

/// One step that changes a text before it is cut into pieces.
class Normalizer {
 public:
  virtual ~Normalizer() = default;
  virtual void normalize(AlignedText& text) const = 0;
};

}  // namespace sardonyx::text
