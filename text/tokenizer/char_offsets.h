#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "text/tokenizer/encoding.h"

namespace sardonyx::text {

/// Turns byte offsets of a text into character offsets in constant time each.
class CharOffsets {
 public:
  explicit CharOffsets(std::string_view text);

  /// Offsets that begin at or past the end stay as they are, as the reference leaves them.
  Offset convert(Offset bytes) const {
    if (ascii_ || bytes.begin >= text_.size()) return bytes;
    if (bytes.end >= text_.size()) return {index(bytes.begin), total_};
    return {index(bytes.begin), index(bytes.end)};
  }

 private:
  /// Index of the character that the byte `at` belongs to.
  std::uint32_t index(std::uint32_t at) const;

  std::string_view text_;
  bool ascii_;
  std::uint32_t total_ = 0;
  std::vector<std::uint32_t> before_block_;  ///< characters that start before each block of 64 bytes
};

}  // namespace sardonyx::text
