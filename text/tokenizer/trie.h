#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace sardonyx::text {

/// A byte trie as a double array: one step is one load. Immutable once built.
class Trie {
 public:
  using Entry = std::pair<std::string_view, std::uint32_t>;
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  static constexpr std::uint32_t kRoot = 0;

  Trie();
  /// Of equal keys the last entry counts. The keys need not outlive the call. Entries in order (see `sorted`) build faster.
  explicit Trie(const std::vector<Entry>& entries);
  /// The entries in the order of their keys' bytes, of equal keys only the last.
  static std::vector<Entry> sorted(std::vector<Entry> entries);

  /// The node below `node` along `byte`, or kNone.
  std::uint32_t step(std::uint32_t node, unsigned char byte) const {
    const std::uint32_t next = cells_[node].base ^ byte;
    return cells_[next].parent == node ? next : kNone;
  }
  /// The value of a key that ends at `node`, or kNone.
  std::uint32_t value(std::uint32_t node) const { return cells_[node].value; }

  std::uint32_t find(std::string_view key) const;

  struct Match {
    std::size_t length = 0;
    std::uint32_t value = kNone;
  };
  /// The longest key, not empty, that `text` starts with; value kNone if there is none.
  Match longest_prefix(std::string_view text) const;

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }

 private:
  friend class TrieBuilder;

  struct Cell {
    std::uint32_t base = 0;  ///< children of this node are the cells base ^ byte
    std::uint32_t parent = kNone;
    std::uint32_t value = kNone;
  };

  std::vector<Cell> cells_;
  std::size_t size_ = 0;
};

}  // namespace sardonyx::text
