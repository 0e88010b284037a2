#include "text/tokenizer/trie.h"

#include <algorithm>
#include <cstring>

namespace sardonyx::text {

namespace {

/// A key with its first eight bytes as a big-endian number, which decides nearly every comparison and spares most looks at the
/// key itself.
struct Key {
  std::uint64_t prefix;
  const char* data;
  std::uint32_t size;
  std::uint32_t value;
  std::uint32_t index;

  std::string_view text() const { return {data, size}; }
  unsigned char at(std::uint32_t depth) const {
    return static_cast<unsigned char>(depth < 8 ? prefix >> (56 - 8 * depth) : data[depth]);
  }
};

std::uint64_t prefix_of(std::string_view key) {
  std::uint64_t word = 0;
  std::memcpy(&word, key.data(), std::min<std::size_t>(key.size(), 8));
  return __builtin_bswap64(word);
}

bool comes_before(const Key& a, const Key& b) {
  if (a.prefix != b.prefix) return a.prefix < b.prefix;
  const int order = a.text().compare(b.text());
  return order != 0 ? order < 0 : a.index < b.index;
}

/// The keys in order, of equal ones only the last.
std::vector<Key> sorted_unique(const std::vector<Trie::Entry>& entries) {
  std::vector<Key> keys(entries.size());
  for (std::uint32_t i = 0; i < entries.size(); ++i) {
    const auto& [text, value] = entries[i];
    keys[i] = {prefix_of(text), text.data(), static_cast<std::uint32_t>(text.size()), value, i};
  }
  if (!std::is_sorted(keys.begin(), keys.end(), comes_before)) std::sort(keys.begin(), keys.end(), comes_before);
  std::size_t kept = 0;
  for (const Key& key : keys) {
    const bool repeats = kept > 0 && keys[kept - 1].prefix == key.prefix && keys[kept - 1].text() == key.text();
    keys[repeats ? kept - 1 : kept++] = key;
  }
  keys.resize(kept);
  return keys;
}

}  // namespace

/// Places the nodes of sorted keys. Free cells form a list per block of 256; the children of a node share a block.
class TrieBuilder {
 public:
  TrieBuilder(Trie& trie, const std::vector<Key>& keys) : cells_(trie.cells_), keys_(keys) {}

  void build() {
    cells_.clear();
    // Nearly every node has one child, so that nodes are about as many as the bytes beyond shared prefixes.
    cells_.reserve(keys_.size() * 4 + 512);
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
    if (node.begin < node.end && keys_[node.begin].size == node.depth) {
      cells_[node.cell].value = keys_[node.begin].value;
      ++node.begin;
    }
    if (node.begin + 1 == node.end) {
      place_tail(node.cell, keys_[node.begin], node.depth);
      return;
    }
    labels_.clear();
    bounds_.clear();
    for (std::uint32_t i = node.begin; i < node.end;) {
      const unsigned char label = keys_[i].at(node.depth);
      labels_.push_back(label);
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

  /// The rest of the only key below a node: a chain of cells.
  void place_tail(std::uint32_t cell, const Key& key, std::uint32_t depth) {
    for (; depth < key.size; ++depth) {
      labels_.assign(1, key.at(depth));
      const std::uint32_t base = find_base();
      const std::uint32_t child = base ^ labels_[0];
      cells_[cell].base = base;
      take(child);
      cells_[child].parent = cell;
      cells_[child].base = kLeaf;
      cell = child;
    }
    cells_[cell].value = key.value;
  }

  std::uint32_t end_of_label(std::uint32_t begin, std::uint32_t end, std::uint32_t depth, unsigned char label) const {
    // Gallop: groups are long near the root and short elsewhere.
    std::uint32_t step = 1, low = begin;
    while (low + step < end && keys_[low + step].at(depth) == label) {
      low += step;
      step *= 2;
    }
    std::uint32_t high = std::min(end, low + step);
    while (low + 1 < high) {
      const std::uint32_t middle = low + (high - low) / 2;
      (keys_[middle].at(depth) == label ? low : high) = middle;
    }
    return high;
  }

  bool fits(std::uint32_t base) const {
    for (unsigned char label : labels_) {
      if (!free_[base ^ label]) return false;
    }
    return true;
  }

  /// A base whose cells are free, from the newest blocks, else from a new block. A block that was no use several times over is
  /// given up, so that the search stays short.
  std::uint32_t find_base() {
    for (std::size_t i = open_blocks_.size(); i-- > 0;) {
      const std::uint32_t block = open_blocks_[i];
      if (free_count_[block] < labels_.size()) continue;
      const std::uint32_t first = block << 8;
      for (std::uint32_t cell = first + first_free_[block]; cell < first + 256; ++cell) {
        if (free_[cell] && (labels_.size() == 1 || fits(cell ^ labels_[0]))) return cell ^ labels_[0];
      }
      if (++failures_[block] == kFailures) open_blocks_.erase(open_blocks_.begin() + static_cast<std::ptrdiff_t>(i));
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
    failures_.push_back(0);
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
  static constexpr std::size_t kOpenBlocks = 4;
  static constexpr int kFailures = 4;

  std::vector<Trie::Cell>& cells_;
  const std::vector<Key>& keys_;
  std::vector<Node> pending_;
  std::vector<unsigned char> labels_;
  std::vector<std::uint32_t> bounds_;
  std::vector<unsigned char> free_;
  std::vector<std::uint32_t> free_count_;
  std::vector<std::uint32_t> first_free_;
  std::vector<int> failures_;
  std::vector<std::uint32_t> open_blocks_;
};

Trie::Trie() : Trie(std::vector<Entry>()) {}

std::vector<Trie::Entry> Trie::sorted(std::vector<Entry> entries) {
  const std::vector<Key> keys = sorted_unique(entries);
  for (std::size_t i = 0; i < keys.size(); ++i) entries[i] = {keys[i].text(), keys[i].value};
  entries.resize(keys.size());
  return entries;
}

Trie::Trie(const std::vector<Entry>& entries) {
  const std::vector<Key> keys = sorted_unique(entries);
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
