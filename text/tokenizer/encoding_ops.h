#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "text/tokenizer/encoding.h"
#include "text/tokenizer/tokenizer.h"

namespace sardonyx::text {

/// Cuts the encoding to `max_length` tokens; the rest goes to `overflowing` in pieces that share `stride` tokens. The
/// sequence ranges are lost where anything is cut. Throws Error kInvalidArgument unless stride < max_length.
void truncate(Encoding& encoding, std::size_t max_length, std::size_t stride, Direction direction);

/// Cuts a text (and its pair, or null) to a common length, as the strategy says.
void truncate_pair(Encoding& first, Encoding* second, const Truncation& truncation);

/// Lengths of both texts after truncation; `second` is 0 where there is no pair.
struct Lengths {
  std::size_t first, second;
};
Lengths truncated_lengths(std::size_t first, std::size_t second, bool is_pair, const Truncation& truncation);

/// Overflowing pieces that one pair may come to.
inline constexpr std::size_t kMaxPieces = std::size_t{1} << 18;
/// Appends `next`, combining the overflowing pieces of both: each piece of one with each of the other, as the reference
/// does. Throws Error kResourceExhausted where that makes more than kMaxPieces.
void merge(Encoding& encoding, const Encoding& next);

/// Sets the range of a sequence, replacing an earlier one.
void set_sequence_range(Encoding& encoding, SequenceRange range);

/// Fills all encodings, and their overflowing pieces, to a common length.
void pad(std::span<Encoding> encodings, const Padding& padding);

/// Appends `count` rows of special tokens.
void append_special(Encoding& encoding, std::uint32_t id, const std::string& token, std::uint32_t type_id,
                    bool with_tokens);

}  // namespace sardonyx::text
