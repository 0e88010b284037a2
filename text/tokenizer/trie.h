#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "text/tokenizer/large_vector.h"

namespace sardonyx::text {

/// A byte trie as a double array: one step is one load. Where few keys are left below a node, it is a list of their
/// tails, the shortest first. Immutable once built.
class Trie {
 public:
  using Entry = std::pair<std::string_view, std::uint32_t>;
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  static constexpr std::uint32_t kRoot = 0;

  Trie();
  /// Of equal keys the last entry counts. The keys need not outlive the call. Below `start` searches may begin; see
  /// node_at.
  explicit Trie(std::span<const Entry> entries, std::string_view start = {});

  /// The node that `start` of the constructor leads to, or kNone where no key begins with it.
  std::uint32_t node_at(std::string_view start) const;

  std::uint32_t find(std::string_view key) const;

  /// Calls visit(length, value) for every key, not empty, that `text` starts with, the shortest first. Keys are those
  /// below `node`, without what leads to it.
  template <typename Visit>
  void for_each_prefix(std::string_view text, Visit&& visit, std::uint32_t node = kRoot) const {
    for (std::size_t at = 0;; ++at) {
      const Cell& cell = cells_[node];
      if (cell.is_list()) {
        visit_tails(cell, text.substr(at), [&](std::uint32_t size, std::uint32_t value) {
          if (at + size > 0) visit(at + size, value);
        });
        return;
      }
      if (at > 0 && cell.value != kNone) visit(at, cell.value);
      if (at == text.size()) return;
      const std::uint32_t next = cell.base ^ static_cast<unsigned char>(text[at]);
      if (cells_[next].parent != node) return;
      node = next;
    }
  }

  struct Match {
    std::size_t length = 0;
    std::uint32_t value = kNone;
  };
  /// The last that for_each_prefix finds; value kNone if there is none.
  Match longest_prefix(std::string_view text, std::uint32_t node = kRoot) const {
    Match match;
    for_each_prefix(text, [&](std::size_t length, std::uint32_t value) { match = {length, value}; }, node);
    return match;
  }

  bool empty() const { return size_ == 0; }
  /// Number of distinct keys.
  std::size_t size() const { return size_; }

 private:
  friend class TrieBuilder;

  static constexpr std::uint32_t kList = 1u << 31;

  struct Cell {
    std::uint32_t base = 0;  ///< children of this node are the cells base ^ byte; or kList and a place in tails_
    std::uint32_t parent = kNone;
    std::uint32_t value = kNone;  ///< of a list: how many tails there are

    bool is_list() const { return (base & kList) != 0; }
  };
  /// In tails_ before the bytes of each tail.
  struct TailHead {
    std::uint32_t size;
    std::uint32_t value;
  };

  /// Calls visit(size, value) for each tail of the list that `text` starts with.
  template <typename Visit>
  void visit_tails(const Cell& list, std::string_view text, Visit&& visit) const {
    const char* at = tails_.data() + (list.base & ~kList);
    for (std::uint32_t left = list.value; left > 0; --left) {
      TailHead head;
      std::memcpy(&head, at, sizeof head);
      at += sizeof head;
      if (head.size > text.size()) return;  // as are all that follow
      const bool same = head.size == 0 || (*at == text[0] && std::memcmp(at, text.data(), head.size) == 0);
      if (same) visit(head.size, head.value);
      at += head.size;
    }
  }

  LargeVector<Cell> cells_;
  LargeVector<char> tails_;  ///< of one list after the other
  std::size_t size_ = 0;
};

}  // namespace sardonyx::text
