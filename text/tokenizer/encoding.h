#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sardonyx::text {

/// A half-open range of the input text, in characters or in bytes as the field says.
struct Offset {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  bool operator==(const Offset&) const = default;
};

/// Which end of a sequence is cut or padded.
enum class Direction { kRight, kLeft };

/// The tokens that one input sequence covers within an Encoding.
struct SequenceRange {
  std::uint32_t sequence = 0;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

/// One encoded text or pair: parallel columns with one row per token.
///
/// A plain value: copies are deep, and concurrent reads are safe.
struct Encoding {
  static constexpr std::int32_t kNone = -1;

  std::vector<std::uint32_t> ids;
  std::vector<std::uint32_t> type_ids;  ///< 0 for the first text and 1 for the second, unless a template differs
  std::vector<std::string> tokens;      ///< empty when EncodeOptions::tokens is off
  std::vector<Offset> offsets;          ///< in characters (code points) of the token's own text; specials are {0, 0}
  std::vector<Offset> byte_offsets;     ///< the same in bytes of its UTF-8
  std::vector<std::int32_t> word_ids;   ///< index of the piece that the pre-tokenizer made, or kNone
  std::vector<std::uint32_t> special_tokens_mask;  ///< 1 for tokens that the post-processor or padding added
  std::vector<std::uint32_t> attention_mask;       ///< 0 for padding, else 1
  /// Pieces that truncation cut off, each post-processed and padded like the whole, `stride` tokens overlapping.
  std::vector<Encoding> overflowing;
  /// Empty when the whole encoding is the first sequence.
  std::vector<SequenceRange> sequence_ranges;

  std::size_t size() const { return ids.size(); }
  bool empty() const { return ids.empty(); }

  /// 0 for tokens of the first text, 1 for those of the second, kNone for special tokens and padding.
  std::vector<std::int32_t> sequence_ids() const;
  /// The same for one token; kNone when `token` is out of range.
  std::int32_t sequence_of(std::size_t token) const;
};

}  // namespace sardonyx::text
