#include "text/tokenizer/encoding_ops.h"

#include <algorithm>
#include <utility>

#include "base/fail.h"

namespace sardonyx::text {

std::int32_t Encoding::sequence_of(std::size_t token) const {
  if (token >= size()) return kNone;
  if (sequence_ranges.empty()) return 0;
  for (const SequenceRange& range : sequence_ranges) {
    if (token >= range.begin && token < range.end) return static_cast<std::int32_t>(range.sequence);
  }
  return kNone;
}

std::vector<std::int32_t> Encoding::sequence_ids() const {
  const std::size_t sequences = sequence_ranges.empty() ? 1 : sequence_ranges.size();
  std::vector<std::int32_t> result(size(), kNone);
  for (std::uint32_t sequence = 0; sequence < sequences; ++sequence) {
    // A sequence without a range counts as the whole encoding, as in the reference.
    SequenceRange range{sequence, 0, static_cast<std::uint32_t>(size())};
    for (const SequenceRange& known : sequence_ranges) {
      if (known.sequence == sequence) range = known;
    }
    std::fill(result.begin() + range.begin, result.begin() + std::min<std::size_t>(range.end, size()),
              static_cast<std::int32_t>(sequence));
  }
  return result;
}

namespace {

struct Part {
  std::size_t begin, end;
};

template <typename T>
void copy_rows(const std::vector<T>& from, Part part, std::vector<T>& to) {
  if (part.end <= from.size()) to.assign(from.begin() + part.begin, from.begin() + part.end);
}

Encoding rows(const Encoding& from, Part part) {
  Encoding to;
  copy_rows(from.ids, part, to.ids);
  copy_rows(from.type_ids, part, to.type_ids);
  copy_rows(from.tokens, part, to.tokens);
  copy_rows(from.offsets, part, to.offsets);
  copy_rows(from.byte_offsets, part, to.byte_offsets);
  copy_rows(from.word_ids, part, to.word_ids);
  copy_rows(from.special_tokens_mask, part, to.special_tokens_mask);
  copy_rows(from.attention_mask, part, to.attention_mask);
  return to;
}

std::vector<Part> parts_of(std::size_t size, std::size_t max_length, std::size_t step, Direction direction) {
  std::vector<Part> parts;
  if (direction == Direction::kRight) {
    for (std::size_t begin = 0; begin < size; begin += step) {
      parts.push_back({begin, std::min(begin + max_length, size)});
      if (parts.back().end == size) break;
    }
    return parts;
  }
  for (std::size_t end = size; end > 0; end -= std::min(step, end)) {
    parts.push_back({end > max_length ? end - max_length : 0, end});
    if (parts.back().begin == 0) break;
  }
  return parts;
}

template <typename T>
void append_rows(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

template <typename T>
void fill_rows(std::vector<T>& column, std::size_t count, const T& value, Direction direction) {
  column.insert(direction == Direction::kRight ? column.end() : column.begin(), count, value);
}

void pad_one(Encoding& encoding, std::size_t length, const Padding& padding) {
  for (Encoding& piece : encoding.overflowing) pad_one(piece, length, padding);
  if (encoding.size() >= length) return;
  const std::size_t count = length - encoding.size();
  const Direction side = padding.direction;
  const bool with_tokens = encoding.tokens.size() == encoding.size();
  fill_rows(encoding.ids, count, padding.pad_id, side);
  fill_rows(encoding.type_ids, count, padding.pad_type_id, side);
  if (with_tokens) fill_rows(encoding.tokens, count, padding.pad_token, side);
  fill_rows(encoding.offsets, count, Offset{}, side);
  fill_rows(encoding.byte_offsets, count, Offset{}, side);
  fill_rows(encoding.word_ids, count, Encoding::kNone, side);
  fill_rows(encoding.special_tokens_mask, count, std::uint32_t{1}, side);
  fill_rows(encoding.attention_mask, count, std::uint32_t{0}, side);
  if (side == Direction::kRight) return;
  for (SequenceRange& range : encoding.sequence_ranges) {
    range.begin += static_cast<std::uint32_t>(count);
    range.end += static_cast<std::uint32_t>(count);
  }
}

}  // namespace

void truncate(Encoding& encoding, std::size_t max_length, std::size_t stride, Direction direction) {
  const std::size_t size = encoding.size();
  if (max_length >= size) return;
  if (max_length == 0) {
    Encoding all = std::exchange(encoding, Encoding());
    encoding.overflowing.push_back(std::move(all));
    return;
  }
  if (stride >= max_length) {
    fail(ErrorCode::kInvalidArgument, "truncation stride {} must be less than the {} tokens left for the text", stride,
         max_length);
  }
  const std::vector<Part> parts = parts_of(size, max_length, max_length - stride, direction);
  Encoding result = rows(encoding, parts[0]);
  result.overflowing.reserve(parts.size() - 1);
  for (std::size_t i = 1; i < parts.size(); ++i) result.overflowing.push_back(rows(encoding, parts[i]));
  encoding = std::move(result);
}

Lengths truncated_lengths(std::size_t first, std::size_t second, bool is_pair, const Truncation& truncation) {
  const std::size_t limit = truncation.max_length;
  if (limit == 0) return {0, 0};
  if (first + second <= limit) return {first, second};
  const std::size_t excess = first + second - limit;
  if (truncation.strategy == TruncationStrategy::kLongestFirst) {
    if (!is_pair) return {limit, 0};
    const bool swapped = first > second;
    std::size_t low = std::min(first, second);
    std::size_t high = low > limit ? low : std::max(low, limit - low);
    if (low + high > limit) {
      low = limit / 2;
      high = low + limit % 2;
    }
    return swapped ? Lengths{high, low} : Lengths{low, high};
  }
  const bool cut_first = truncation.strategy == TruncationStrategy::kOnlyFirst;
  if (!cut_first && !is_pair) {
    fail(ErrorCode::kInvalidArgument, "truncation of only the second text was asked for, but there is no second text");
  }
  std::size_t& target = cut_first ? first : second;
  if (target <= excess) {
    fail(ErrorCode::kInvalidArgument,
         "the text to truncate has {} tokens, which is too few to bring the total down to {}; truncate the other text "
         "too",
         target, limit);
  }
  target -= excess;
  return {first, second};
}

void truncate_pair(Encoding& first, Encoding* second, const Truncation& truncation) {
  const std::size_t second_size = second == nullptr ? 0 : second->size();
  const Lengths lengths = truncated_lengths(first.size(), second_size, second != nullptr, truncation);
  truncate(first, lengths.first, truncation.stride, truncation.direction);
  if (second != nullptr) truncate(*second, lengths.second, truncation.stride, truncation.direction);
}

void set_sequence_range(Encoding& encoding, SequenceRange range) {
  for (SequenceRange& old : encoding.sequence_ranges) {
    if (old.sequence == range.sequence) {
      old = range;
      return;
    }
  }
  encoding.sequence_ranges.push_back(range);
}

namespace {

/// `merged` counts the pieces so far.
void merge(Encoding& encoding, const Encoding& next, std::size_t& merged) {
  if (++merged > kMaxPieces) {
    fail(ErrorCode::kResourceExhausted,
         "the texts overflow into more than {} pieces, one for each combination of theirs; cut them, raise the maximum "
         "length, or do without overflowing pieces",
         kMaxPieces);
  }
  std::vector<Encoding> overflowing;
  for (const Encoding& piece : encoding.overflowing) {
    overflowing.push_back(piece);
    merge(overflowing.back(), next, merged);
    for (const Encoding& other : next.overflowing) {
      overflowing.push_back(piece);
      merge(overflowing.back(), other, merged);
    }
  }
  for (const Encoding& other : next.overflowing) {
    overflowing.push_back(encoding);
    merge(overflowing.back(), other, merged);
  }
  const auto size = static_cast<std::uint32_t>(encoding.size());
  for (SequenceRange range : next.sequence_ranges) {
    set_sequence_range(encoding, {range.sequence, size + range.begin, size + range.end});
  }
  append_rows(encoding.ids, next.ids);
  append_rows(encoding.type_ids, next.type_ids);
  append_rows(encoding.tokens, next.tokens);
  append_rows(encoding.offsets, next.offsets);
  append_rows(encoding.byte_offsets, next.byte_offsets);
  append_rows(encoding.word_ids, next.word_ids);
  append_rows(encoding.special_tokens_mask, next.special_tokens_mask);
  append_rows(encoding.attention_mask, next.attention_mask);
  encoding.overflowing = std::move(overflowing);
}

}  // namespace

void merge(Encoding& encoding, const Encoding& next) {
  std::size_t merged = 0;
  merge(encoding, next, merged);
}

void pad(std::span<Encoding> encodings, const Padding& padding) {
  std::size_t length = padding.fixed_length.value_or(0);
  if (!padding.fixed_length) {
    for (const Encoding& encoding : encodings) length = std::max(length, encoding.size());
  }
  if (padding.multiple_of > 0 && length % padding.multiple_of > 0) {
    length += padding.multiple_of - length % padding.multiple_of;
  }
  for (Encoding& encoding : encodings) pad_one(encoding, length, padding);
}

void append_special(Encoding& encoding, std::uint32_t id, const std::string& token, std::uint32_t type_id,
                    bool with_tokens) {
  encoding.ids.push_back(id);
  encoding.type_ids.push_back(type_id);
  if (with_tokens) encoding.tokens.push_back(token);
  encoding.offsets.emplace_back();
  encoding.byte_offsets.emplace_back();
  encoding.word_ids.push_back(Encoding::kNone);
  encoding.special_tokens_mask.push_back(1);
  encoding.attention_mask.push_back(1);
}

}  // namespace sardonyx::text
