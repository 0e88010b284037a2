#pragma once

#include <cstddef>
#include <cstdint>

#include "text/tokenizer/large_vector.h"
namespace sardonyx::text {

/// Pairs of token ids -> rank and merged id.
class MergeTable {
 public:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  struct Merge {
    std::uint32_t rank = kNone;
    std::uint32_t id = kNone;
  };

  explicit MergeTable(std::size_t merges = 0) {
    std::size_t slots = 16;
    while (slots < merges * 2) slots *= 2;
    slots_.resize(slots);
  }

  /// A pair that is added again takes the new rank. At most as many pairs as were announced.
  void add(std::uint32_t left, std::uint32_t right, Merge merge) {
    Slot& slot = slots_[locate(key_of(left, right))];
    slot = {key_of(left, right), merge};
  }

  /// The merge of the pair; rank kNone where there is none.
  Merge find(std::uint32_t left, std::uint32_t right) const { return slots_[locate(key_of(left, right))].merge; }

 private:
  struct Slot {
    std::uint64_t key = ~std::uint64_t{0};
    Merge merge;
  };

  static std::uint64_t key_of(std::uint32_t left, std::uint32_t right) { return std::uint64_t{left} << 32 | right; }

  std::size_t locate(std::uint64_t key) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = (key * 0x9E3779B97F4A7C15u >> 32) & mask;
    while (slots_[i].key != key && slots_[i].key != ~std::uint64_t{0}) i = (i + 1) & mask;
    return i;
  }

  LargeVector<Slot> slots_;
};

}  // namespace sardonyx::text
