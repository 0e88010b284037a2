#include "text/tokenizer/trie.h"

#include <algorithm>
#include <cstring>

namespace sardonyx::text {

namespace {

/// A key with its first eight bytes as a big-endian number, which decides nearly every comparison.
struct SortedKey {
  std::uint64_t prefix;
  std::uint32_t index;
};

std::uint64_t prefix_of(std::string_view key) {
  unsigned char bytes[8] = {};
  std::memcpy(bytes, key.data(), std::min<std::size_t>(key.size(), 8));
  std::uint64_t word;
  std::memcpy(&word, bytes, 8);
  return __builtin_bswap64(word);
}

/// Entries in the order of their keys, of equal keys only the last.
std::vector<Trie::Entry> sorted_unique(const std::vector<Trie::Entry>& entries) {
  std::vector<SortedKey> keys(entries.size());
  for (std::uint32_t i = 0; i < entries.size(); ++i) keys[i] = {prefix_of(entries[i].first), i};
  std::sort(keys.begin(), keys.end(), [&](const SortedKey& a, const SortedKey& b) {
    if (a.prefix != b.prefix) return a.prefix < b.prefix;
    const int order = entries[a.index].first.compare(entries[b.index].first);
    return order != 0 ? order < 0 : a.index < b.index;
  });
  std::vector<Trie::Entry> sorted;
  sorted.reserve(keys.size());
  for (const SortedKey& key : keys) {
    const Trie::Entry& entry = entries[key.index];
    if (!sorted.empty() && sorted.back().first == entry.first) {
      sorted.back() = entry;
    } else {
      sorted.push_back(entry);
    }
  }
  return sorted;
}

}  // namespace

/// Places the nodes of sorted keys. Free cells form a list per block of 256; the children of a node share a block.
class TrieBuilder {
 public:
  TrieBuilder(Trie& trie, const std::vector<Trie::Entry>& keys) : cells_(trie.cells_), keys_(keys) {}

  void build() {
    cells_.clear();
    add_block();
    take(0);
    cells_[0].base = kLeaf;
    pending_.push_back({0, 0, static_cast<std::uint32_t>(keys_.size()), 0});
    while (!pending_.empty()) {
      const Node node = pending_.back();
      pending_.pop_back();
      place_children(node);
    }
    seal();
  }

 private:
  /// Keys [begin, end) share their first `depth` bytes, which lead to `cell`.
  struct Node {
    std::uint32_t cell, begin, end, depth;
  };

  void place_children(Node node) {
    if (node.begin < node.end && keys_[node.begin].first.size() == node.depth) {
      cells_[node.cell].value = keys_[node.begin].second;
      ++node.begin;
    }
    labels_.clear();
    bounds_.clear();
    for (std::uint32_t i = node.begin; i < node.end;) {
      const char label = keys_[i].first[node.depth];
      labels_.push_back(static_cast<unsigned char>(label));
      bounds_.push_back(i);
      i = end_of_label(i, node.end, node.depth, label);
    }
    bounds_.push_back(node.end);
    if (labels_.empty()) return;
    const std::uint32_t base = find_base();
    cells_[node.cell].base = base;
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      const std::uint32_t child = base ^ labels_[i];
      take(child);
      cells_[child].parent = node.cell;
      cells_[child].base = kLeaf;
      pending_.push_back({child, bounds_[i], bounds_[i + 1], node.depth + 1});
    }
  }

  std::uint32_t end_of_label(std::uint32_t begin, std::uint32_t end, std::uint32_t depth, char label) const {
    // Gallop: groups are long near the root and short elsewhere.
    std::uint32_t step = 1, low = begin;
    while (low + step < end && keys_[low + step].first[depth] == label) {
      low += step;
      step *= 2;
    }
    std::uint32_t high = std::min(end, low + step);
    while (low + 1 < high) {
      const std::uint32_t middle = low + (high - low) / 2;
      (keys_[middle].first[depth] == label ? low : high) = middle;
    }
    return high;
  }

  bool fits(std::uint32_t base) const {
    for (unsigned char label : labels_) {
      if (!free_[base ^ label]) return false;
    }
    return true;
  }

  /// A base whose cells are free, from the newest blocks, else from a new block.
  std::uint32_t find_base() {
    for (std::size_t i = open_blocks_.size(); i-- > 0;) {
      const std::uint32_t block = open_blocks_[i];
      if (free_count_[block] < labels_.size()) continue;
      const std::uint32_t first = block << 8;
      for (std::uint32_t cell = first + first_free_[block]; cell < first + 256; ++cell) {
        if (free_[cell] && fits(cell ^ labels_[0])) return cell ^ labels_[0];
      }
    }
    const auto first = static_cast<std::uint32_t>(cells_.size());
    add_block();
    return first;
  }

  void add_block() {
    const auto block = static_cast<std::uint32_t>(cells_.size() >> 8);
    cells_.resize(cells_.size() + 256);
    free_.resize(cells_.size(), 1);
    free_count_.push_back(256);
    first_free_.push_back(0);
    open_blocks_.push_back(block);
    if (open_blocks_.size() > kOpenBlocks) open_blocks_.erase(open_blocks_.begin());
  }

  void take(std::uint32_t cell) {
    free_[cell] = 0;
    const std::uint32_t block = cell >> 8;
    if (--free_count_[block] == 0) std::erase(open_blocks_, block);
    while (first_free_[block] < 256 && !free_[(block << 8) + first_free_[block]]) ++first_free_[block];
  }

  /// Nodes without children step into a block that belongs to nobody.
  void seal() {
    const auto first = static_cast<std::uint32_t>(cells_.size());
    cells_.resize(cells_.size() + 256);
    for (Trie::Cell& cell : cells_) {
      if (cell.base == kLeaf) cell.base = first;
    }
  }

  static constexpr std::uint32_t kLeaf = 1u << 31;
  static constexpr std::size_t kOpenBlocks = 8;

  std::vector<Trie::Cell>& cells_;
  const std::vector<Trie::Entry>& keys_;
  std::vector<Node> pending_;
  std::vector<unsigned char> labels_;
  std::vector<std::uint32_t> bounds_;
  std::vector<unsigned char> free_;
  std::vector<std::uint32_t> free_count_;
  std::vector<std::uint32_t> first_free_;
  std::vector<std::uint32_t> open_blocks_;
};

Trie::Trie() : Trie(std::vector<Entry>()) {}

Trie::Trie(std::vector<Entry> entries) {
  const std::vector<Entry> keys = sorted_unique(entries);
  TrieBuilder(*this, keys).build();
  size_ = keys.size();
}

std::uint32_t Trie::find(std::string_view key) const {
  std::uint32_t node = kRoot;
  for (char c : key) {
    node = step(node, static_cast<unsigned char>(c));
    if (node == kNone) return kNone;
  }
  return value(node);
}

Trie::Match Trie::longest_prefix(std::string_view text) const {
  Match match;
  std::uint32_t node = kRoot;
  for (std::size_t i = 0; i < text.size(); ++i) {
    node = step(node, static_cast<unsigned char>(text[i]));
    if (node == kNone) break;
    if (value(node) != kNone) match = {i + 1, value(node)};
  }
  return match;
}

}  // namespace sardonyx::text
