#include "text/tokenizer/trie.h"

#include <algorithm>
#include <bit>

#include "base/fail.h"

namespace sardonyx::text {

namespace {

constexpr std::uint32_t kHead = 24;

/// A key with its first bytes as three big-endian numbers, which decide nearly every comparison: keys themselves are
/// far apart in memory, and each look at one costs as much as all the rest.
struct Key {
  std::uint64_t head[3];
  std::uint32_t size;
  std::uint32_t index;  ///< of its entry

  unsigned char at(std::uint32_t depth) const {
    return static_cast<unsigned char>(head[depth / 8] >> (56 - depth % 8 * 8));
  }
  bool same_head(const Key& other) const {
    return head[0] == other.head[0] && head[1] == other.head[1] && head[2] == other.head[2];
  }
};

Key key_of(const Trie::Entry& entry, std::uint32_t index) {
  const std::string_view text = entry.first;
  Key key{{0, 0, 0}, static_cast<std::uint32_t>(text.size()), index};
  text.copy(reinterpret_cast<char*>(key.head), kHead);
  for (std::uint64_t& word : key.head) word = __builtin_bswap64(word);
  return key;
}

/// Entries in the order of their keys' bytes.
class SortedKeys {
 public:
  explicit SortedKeys(std::span<const Trie::Entry> entries) : entries_(entries) {
    keys_.reserve(entries.size());
    values_.reserve(entries.size());
    for (const Trie::Entry& entry : entries) {
      keys_.push_back(key_of(entry, static_cast<std::uint32_t>(keys_.size())));
      values_.push_back(entry.second);
    }
    sort(keys_.data(), keys_.size(), 0);
    keep_last_of_equal();
  }

  std::size_t size() const { return keys_.size(); }
  std::uint32_t length(std::size_t i) const { return keys_[i].size; }
  /// Values are far apart too. They are asked for from the last key to the first, so those of earlier keys are fetched
  /// ahead.
  std::uint32_t value(std::size_t i) const {
    constexpr std::size_t kAhead = 12;
    if (i >= kAhead) __builtin_prefetch(&values_[keys_[i - kAhead].index]);
    return values_[keys_[i].index];
  }
  unsigned char at(std::size_t i, std::uint32_t depth) const {
    return depth < kHead ? keys_[i].at(depth) : static_cast<unsigned char>(text(i)[depth]);
  }
  bool starts_with(std::size_t i, std::string_view start) const { return text(i).starts_with(start); }
  /// Writes what follows the first `depth` bytes to `out`, and returns where that ends. Up to kHead more bytes may be
  /// written.
  char* write_tail(std::size_t i, std::uint32_t depth, char* out) const {
    const Key& key = keys_[i];
    if (key.size > kHead) return std::copy_n(text(i).data() + depth, key.size - depth, out);
    char bytes[2 * kHead] = {};
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint64_t word = __builtin_bswap64(key.head[k]);
      std::memcpy(bytes + 8 * k, &word, sizeof word);
    }
    std::memcpy(out, bytes + depth, kHead);
    return out + (key.size - depth);
  }

 private:
  static constexpr std::size_t kFew = 96;  ///< keys up to which comparisons beat counting

  std::string_view text(std::size_t i) const { return entries_[keys_[i].index].first; }

  bool comes_before(const Key& a, const Key& b) const {
    if (a.head[0] != b.head[0]) return a.head[0] < b.head[0];
    if (a.head[1] != b.head[1]) return a.head[1] < b.head[1];
    if (a.head[2] != b.head[2]) return a.head[2] < b.head[2];
    if (a.size > kHead && b.size > kHead) {
      const int order = entries_[a.index].first.compare(entries_[b.index].first);
      return order != 0 ? order < 0 : a.index < b.index;
    }
    return a.size != b.size ? a.size < b.size : a.index < b.index;
  }

  void sort_few(Key* keys, std::size_t count) const {
    std::sort(keys, keys + count, [this](const Key& a, const Key& b) { return comes_before(a, b); });
  }

  /// Sorts keys that share their first `depth` bytes: moves each to the group of its next byte, the keys that have
  /// ended to the first group, and then sorts the groups.
  void sort(Key* keys, std::size_t count, std::uint32_t depth) const {
    if (count < kFew || depth == kHead) return sort_few(keys, count);
    const auto group_of = [depth](const Key& key) -> std::size_t { return key.size <= depth ? 0 : 1 + key.at(depth); };
    constexpr std::size_t kGroups = 257;
    std::uint32_t ends[kGroups] = {}, next[kGroups];
    for (std::size_t i = 0; i < count; ++i) ++ends[group_of(keys[i])];
    if (const std::size_t group = group_of(keys[0]); group > 0 && ends[group] == count)
      return sort(keys, count, depth + 1);
    for (std::uint32_t group = 0, total = 0; group < kGroups; ++group) {
      next[group] = total;
      ends[group] = total += ends[group];
    }
    for (std::size_t group = 0; group < kGroups; ++group) {
      while (next[group] < ends[group]) {
        Key& place = keys[next[group]];
        for (std::size_t home = group_of(place); home != group; home = group_of(place))
          std::swap(place, keys[next[home]++]);
        ++next[group];
      }
    }
    sort_few(keys, ends[0]);
    for (std::size_t group = 1; group < kGroups; ++group) {
      if (ends[group] - ends[group - 1] > 1) sort(keys + ends[group - 1], ends[group] - ends[group - 1], depth + 1);
    }
  }

  void keep_last_of_equal() {
    std::size_t kept = 0;
    for (const Key& key : keys_) {
      const bool repeats = kept > 0 && keys_[kept - 1].same_head(key) && keys_[kept - 1].size == key.size &&
                           (key.size <= kHead || text(kept - 1) == entries_[key.index].first);
      keys_[repeats ? kept - 1 : kept++] = key;
    }
    keys_.resize(kept);
  }

  std::span<const Trie::Entry> entries_;
  LargeVector<Key> keys_;
  LargeVector<std::uint32_t> values_;  ///< by index
};

/// Which cells of a block of 256 are free.
class FreeCells {
 public:
  /// Cell i of the result is free where cell i ^ distance is free here.
  FreeCells moved_by(unsigned char distance) const {
    // Swaps neighbouring groups of 2^bit cells for each bit of the distance, in all words, without branches.
    static constexpr std::uint64_t kLower[] = {0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F,
                                               0x00FF00FF00FF00FF, 0x0000FFFF0000FFFF, 0x00000000FFFFFFFF};
    FreeCells moved;
    for (std::size_t i = 0; i < 4; ++i) moved.words_[i] = words_[i ^ distance >> 6];
    for (int bit = 0; bit < 6; ++bit) {
      const std::uint64_t swaps = 0 - static_cast<std::uint64_t>(distance >> bit & 1);
      for (std::uint64_t& word : moved.words_) {
        const std::uint64_t swapped = (word >> (1 << bit) & kLower[bit]) | (word & kLower[bit]) << (1 << bit);
        word = (swapped & swaps) | (word & ~swaps);
      }
    }
    return moved;
  }
  void keep_common(const FreeCells& other) {
    for (std::size_t i = 0; i < 4; ++i) words_[i] &= other.words_[i];
  }
  void take(std::uint32_t cell) { words_[cell / 64] &= ~(std::uint64_t{1} << cell % 64); }
  bool none() const { return (words_[0] | words_[1] | words_[2] | words_[3]) == 0; }
  /// The first free cell; there must be one.
  std::uint32_t first() const {
    std::uint32_t i = 0;
    while (words_[i] == 0) ++i;
    return i * 64 + static_cast<std::uint32_t>(std::countr_zero(words_[i]));
  }

 private:
  std::uint64_t words_[4] = {~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0}};
};

}  // namespace

/// Places the nodes of sorted keys. The children of a node share a block of 256 cells.
class TrieBuilder {
 public:
  TrieBuilder(Trie& trie, const SortedKeys& keys, std::string_view start)
      : cells_(trie.cells_), tails_(trie.tails_), keys_(keys), start_(start) {}

  void build() {
    cells_.reserve(keys_.size() / 2 + 512);
    tails_.resize(keys_.size() * 16);
    add_block();
    take(0);
    pending_.push_back({0, 0, static_cast<std::uint32_t>(keys_.size()), 0});
    while (!pending_.empty()) {
      const Node node = pending_.back();
      pending_.pop_back();
      place(node);
    }
    tails_.resize(tails_size_);
  }

 private:
  /// Keys [begin, end) share their first `depth` bytes, which lead to `cell`.
  struct Node {
    std::uint32_t cell, begin, end, depth;
  };

  void place(Node node) {
    if (node.end - node.begin <= kFewTails && !leads_to_start(node)) {
      place_list(node);
      return;
    }
    if (keys_.length(node.begin) == node.depth) cells_[node.cell].value = keys_.value(node.begin++);
    labels_.clear();
    bounds_.clear();
    for (std::uint32_t i = node.begin; i < node.end;) {
      const unsigned char label = keys_.at(i, node.depth);
      labels_.push_back(label);
      bounds_.push_back(i);
      i = end_of_label(i, node.end, node.depth, label);
    }
    bounds_.push_back(node.end);
    const std::uint32_t base = find_base();
    cells_[node.cell].base = base;
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      const std::uint32_t child = base ^ labels_[i];
      take(child);
      cells_[child].parent = node.cell;
      pending_.push_back({child, bounds_[i], bounds_[i + 1], node.depth + 1});
    }
  }

  /// Whether the node lies on the way to `start`, whose nodes are kept.
  bool leads_to_start(const Node& node) const {
    if (node.depth >= start_.size()) return false;
    for (std::uint32_t i = node.begin; i < node.end; ++i) {
      if (keys_.starts_with(i, start_)) return true;
    }
    return false;
  }

  /// The rests of the few keys below a node.
  void place_list(const Node& node) {
    std::uint32_t order[kFewTails];
    const std::uint32_t count = node.end - node.begin;
    for (std::uint32_t i = 0; i < count; ++i) {
      std::uint32_t at = i;
      for (; at > 0 && keys_.length(order[at - 1]) > keys_.length(node.begin + i); --at) order[at] = order[at - 1];
      order[at] = node.begin + i;
    }
    std::size_t bytes = count * sizeof(Trie::TailHead);
    for (std::uint32_t i = 0; i < count; ++i) bytes += keys_.length(order[i]) - node.depth;
    if (tails_size_ + bytes >= Trie::kList)
      fail(ErrorCode::kResourceExhausted, "the tokens of the vocabulary hold more than 2 GiB");
    if (tails_size_ + bytes + kHead > tails_.size()) tails_.resize(2 * (tails_.size() + bytes + kHead));
    cells_[node.cell].base = Trie::kList | static_cast<std::uint32_t>(tails_size_);
    cells_[node.cell].value = count;
    char* out = tails_.data() + tails_size_;
    tails_size_ += bytes;
    for (std::uint32_t i = 0; i < count; ++i) {
      const Trie::TailHead head{keys_.length(order[i]) - node.depth, keys_.value(order[i])};
      std::memcpy(out, &head, sizeof head);
      out = keys_.write_tail(order[i], node.depth, out + sizeof head);
    }
  }

  std::uint32_t end_of_label(std::uint32_t begin, std::uint32_t end, std::uint32_t depth, unsigned char label) const {
    // Gallop: groups are long near the root and short elsewhere.
    std::uint32_t step = 1, low = begin;
    while (low + step < end && keys_.at(low + step, depth) == label) {
      low += step;
      step *= 2;
    }
    std::uint32_t high = std::min(end, low + step);
    while (low + 1 < high) {
      const std::uint32_t middle = low + (high - low) / 2;
      (keys_.at(middle, depth) == label ? low : high) = middle;
    }
    return high;
  }

  /// A base whose cells are free, from the newest blocks, else from a new block. A block that was no use several times
  /// over is given up, so that the search stays short.
  std::uint32_t find_base() {
    for (std::size_t i = open_blocks_.size(); i-- > 0;) {
      OpenBlock& block = open_blocks_[i];
      FreeCells firsts = block.free;  // where the first child may stand
      for (std::size_t k = 1; k < labels_.size() && !firsts.none(); ++k) {
        firsts.keep_common(block.free.moved_by(labels_[k] ^ labels_[0]));
      }
      if (!firsts.none()) return block.first_cell + (firsts.first() ^ labels_[0]);
      if (++block.failures == kFailures) open_blocks_.erase(open_blocks_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    add_block();
    return open_blocks_.back().first_cell;
  }

  void add_block() {
    if (open_blocks_.size() == kOpenBlocks) {
      std::rotate(open_blocks_.begin(), open_blocks_.begin() + 1, open_blocks_.end());  // the oldest goes
      open_blocks_.pop_back();
    }
    open_blocks_.push_back({static_cast<std::uint32_t>(cells_.size()), {}, 0});
    cells_.resize(cells_.size() + 256);
  }

  void take(std::uint32_t cell) {
    for (std::size_t i = open_blocks_.size(); i-- > 0;) {
      if (open_blocks_[i].first_cell != (cell & ~255u)) continue;
      open_blocks_[i].free.take(cell & 255);
      if (open_blocks_[i].free.none()) open_blocks_.erase(open_blocks_.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
  }

  /// A block that may still take nodes.
  struct OpenBlock {
    std::uint32_t first_cell;
    FreeCells free;
    int failures;
  };

  static constexpr std::uint32_t kFewTails = 16;
  static constexpr std::size_t kOpenBlocks = 4;
  static constexpr int kFailures = 4;

  LargeVector<Trie::Cell>& cells_;
  LargeVector<char>& tails_;
  std::size_t tails_size_ = 0;  ///< how much of tails_ is written
  const SortedKeys& keys_;
  std::string_view start_;
  std::vector<Node> pending_;
  std::vector<unsigned char> labels_;
  std::vector<std::uint32_t> bounds_;
  std::vector<OpenBlock> open_blocks_;
};

Trie::Trie() : Trie(std::span<const Entry>()) {}

Trie::Trie(std::span<const Entry> entries, std::string_view start) {
  const SortedKeys keys(entries);
  TrieBuilder(*this, keys, start).build();
  size_ = keys.size();
}

std::uint32_t Trie::node_at(std::string_view start) const {
  std::uint32_t node = kRoot;
  for (char c : start) {
    if (cells_[node].is_list()) return kNone;
    const std::uint32_t next = cells_[node].base ^ static_cast<unsigned char>(c);
    if (cells_[next].parent != node) return kNone;
    node = next;
  }
  return node;
}

std::uint32_t Trie::find(std::string_view key) const {
  std::uint32_t node = kRoot;
  for (std::size_t at = 0;; ++at) {
    const Cell& cell = cells_[node];
    if (cell.is_list()) {
      std::uint32_t found = kNone;
      visit_tails(cell, key.substr(at), [&](std::uint32_t size, std::uint32_t value) {
        if (at + size == key.size()) found = value;
      });
      return found;
    }
    if (at == key.size()) return cell.value;
    const std::uint32_t next = cell.base ^ static_cast<unsigned char>(key[at]);
    if (cells_[next].parent != node) return kNone;
    node = next;
  }
}

}  // namespace sardonyx::text
