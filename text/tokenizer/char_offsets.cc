#include "text/tokenizer/char_offsets.h"

#include <algorithm>
#include <cstring>

#include "text/tokenizer/utf8.h"

namespace sardonyx::text {

namespace {

constexpr std::size_t kBlock = 64;

/// Number of characters that start in [begin, end).
std::uint32_t count_starts(std::string_view text, std::size_t begin, std::size_t end) {
  std::uint32_t count = 0;
  std::size_t i = begin;
  for (; i + 8 <= end; i += 8) {
    std::uint64_t word;
    std::memcpy(&word, text.data() + i, 8);
    const std::uint64_t continuation = (word >> 7) & ~(word >> 6) & 0x0101010101010101u;
    count += 8 - static_cast<std::uint32_t>(__builtin_popcountll(continuation));
  }
  for (; i < end; ++i) count += !is_utf8_continuation(text[i]);
  return count;
}

}  // namespace

CharOffsets::CharOffsets(std::string_view text) : text_(text), ascii_(is_ascii(text)) {
  if (ascii_) return;
  before_block_.reserve(text.size() / kBlock + 1);
  for (std::size_t i = 0; i < text.size(); i += kBlock) {
    before_block_.push_back(total_);
    total_ += count_starts(text, i, std::min(i + kBlock, text.size()));
  }
}

std::uint32_t CharOffsets::index(std::uint32_t at) const {
  const std::size_t block = at / kBlock;
  return before_block_[block] + count_starts(text_, block * kBlock, at + 1) - 1;
}

}  // namespace sardonyx::text
