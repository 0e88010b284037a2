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

  /// Offsets outside the text come out as the reference has them: those that begin at or past its end stay as they are,
  /// and those that only end past it are given two characters.
  Offset convert(Offset bytes) const {
    if (bytes.begin >= text_.size()) return bytes;
    const std::uint32_t begin = ascii_ ? bytes.begin : index(bytes.begin);
    if (bytes.end > text_.size()) return {begin, begin + 2};
    if (ascii_) return bytes;
    return {begin, bytes.end == text_.size() ? total_ : index(bytes.end)};
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
