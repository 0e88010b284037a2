#include "text/tokenizer/trie.h"

#include <algorithm>
#include <bit>

#include "base/fail.h"

namespace sardonyx::text {

namespace {

constexpr std::uint32_t kHead = 8;

/// A key and some of its bytes, which spare looks at the key itself: keys are far apart in memory, and each look at one
/// costs as much as all the rest.
struct Key {
  std::uint64_t head;  ///< kHead bytes from a multiple of kHead on, the first in the lowest bits
  const char* text;
  std::uint32_t size;
  std::uint32_t value;

  /// The byte at `depth`, which must lie in the head.
  unsigned char at(std::uint32_t depth) const { return static_cast<unsigned char>(head >> depth % kHead * 8); }

  void read_head(std::uint32_t depth) {
    const char* const from = text + depth;
    const std::uint32_t left = size - depth;
    if (left >= kHead) {
      head = load<std::uint64_t>(from);
    } else if (left >= 4) {  // two loads that may overlap
      head = load<std::uint32_t>(from) | std::uint64_t{load<std::uint32_t>(from + left - 4)} << (left - 4) * 8;
    } else {
      head = 0;
      for (std::uint32_t i = 0; i < left; ++i) head |= std::uint64_t{static_cast<unsigned char>(from[i])} << i * 8;
    }
  }

  /// Writes what follows the first `depth` bytes to `out`, and returns where that ends. Up to kHead more bytes may be
  /// written.
  char* write_tail(std::uint32_t depth, char* out) const {
    const char* const from = text + depth;
    const std::uint32_t left = size - depth;
    if (left > 2 * kHead) {
      std::memcpy(out, from, left);
    } else if (left >= kHead) {
      store(load<std::uint64_t>(from), out);
      store(load<std::uint64_t>(from + left - kHead), out + left - kHead);
    } else if (size >= kHead) {  // the last bytes of the key, moved
      store(load<std::uint64_t>(text + size - kHead) >> (kHead - left) * 8 % 64, out);
    } else if (left > 0) {
      store(head >> depth * 8, out);
    }
    return out + left;
  }

 private:
  template <typename T>
  static T load(const char* from) {
    static_assert(std::endian::native == std::endian::little);
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  static void store(std::uint64_t bytes, char* out) { std::memcpy(out, &bytes, sizeof bytes); }
};

/// Sorts keys by one byte. Equal ones stay in their order.
class ByteGroups {
 public:
  /// Those that end at `depth` come first; that byte of the others must lie in their heads.
  void sort(std::span<Key> keys, std::uint32_t depth) {
    constexpr std::size_t kEnded = 256;
    const auto group_of = [depth](const Key& key) { return key.size == depth ? kEnded : key.at(depth); };
    std::uint32_t next[257] = {};
    std::uint64_t present[4] = {};
    for (const Key& key : keys) {
      const std::size_t group = group_of(key);
      ++next[group];
      if (group != kEnded) present[group / 64] |= std::uint64_t{1} << group % 64;
    }
    ended_ = next[kEnded];
    next[kEnded] = 0;
    labels_.clear();
    ends_.clear();
    std::uint32_t end = ended_;
    for (std::uint32_t word = 0; word < 4; ++word) {
      for (; present[word] != 0; present[word] &= present[word] - 1) {
        const std::uint32_t label = word * 64 + static_cast<std::uint32_t>(std::countr_zero(present[word]));
        end += next[label];
        next[label] = end - next[label];
        labels_.push_back(static_cast<unsigned char>(label));
        ends_.push_back(end);
      }
    }
    if (labels_.size() + (ended_ > 0 ? 1 : 0) < 2) return;
    if (space_ < keys.size()) sorted_ = make_aligned<Key>(space_ = keys.size());
    for (const Key& key : keys) sorted_[next[group_of(key)]++] = key;
    std::copy_n(sorted_.get(), keys.size(), keys.data());
  }

  /// How many keys end.
  std::uint32_t ended() const { return ended_; }
  /// The bytes of the others, in order, and where the group of each ends.
  std::span<const unsigned char> labels() const { return labels_; }
  std::span<const std::uint32_t> ends() const { return ends_; }

 private:
  std::uint32_t ended_ = 0;
  std::vector<unsigned char> labels_;
  std::vector<std::uint32_t> ends_;
  AlignedArray<Key> sorted_;
  std::size_t space_ = 0;  ///< in sorted_
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

/// Sorts the keys and places their nodes. The children of a node share a block of 256 cells.
class TrieBuilder {
 public:
  TrieBuilder(Trie& trie, std::span<const Trie::Entry> entries, std::string_view start)
      : trie_(trie), cells_(trie.cells_), tails_(trie.tails_), start_(start) {
    keys_.reserve(entries.size());
    for (const auto& [text, value] : entries) {
      keys_.push_back({0, text.data(), static_cast<std::uint32_t>(text.size()), value});
      keys_.back().read_head(0);
    }
  }

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

  void place(const Node& node) {
    const std::span<Key> keys = std::span(keys_).subspan(node.begin, node.end - node.begin);
    if (keys.size() <= kFewTails && !leads_to_start(node)) return place_list(keys, node);
    if (node.depth > 0 && node.depth % kHead == 0) {
      for (Key& key : keys) key.read_head(node.depth);
    }
    groups_.sort(keys, node.depth);
    if (groups_.ended() > 0) {
      cells_[node.cell].value = keys[groups_.ended() - 1].value;
      ++trie_.size_;
    }
    place_children(node);
  }

  void place_children(const Node& node) {
    const std::span<const unsigned char> labels = groups_.labels();
    if (labels.empty()) return;
    const std::uint32_t base = find_base(labels);
    cells_[node.cell].base = base;
    std::uint32_t begin = node.begin + groups_.ended();
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const std::uint32_t child = base ^ labels[i];
      const std::uint32_t end = node.begin + groups_.ends()[i];
      take(child);
      cells_[child].parent = node.cell;
      pending_.push_back({child, begin, end, node.depth + 1});
      begin = end;
    }
  }

  /// Whether the node lies on the way to `start`, whose nodes are kept.
  bool leads_to_start(const Node& node) const {
    if (node.depth >= start_.size()) return false;
    for (std::uint32_t i = node.begin; i < node.end; ++i) {
      if (std::string_view(keys_[i].text, keys_[i].size).starts_with(start_)) return true;
    }
    return false;
  }

  /// The rests of the few keys below a node.
  void place_list(std::span<const Key> keys, const Node& node) {
    const Key* order[kFewTails];
    std::size_t count = 0, bytes = 0;
    for (const Key& key : keys) __builtin_prefetch(key.text + node.depth);
    for (const Key& key : keys) {
      std::size_t at = count;
      while (at > 0 && order[at - 1]->size > key.size) --at;
      if (const Key** const equal = equal_key(order, at, key, node.depth)) {
        *equal = &key;
        continue;
      }
      std::copy_backward(order + at, order + count, order + count + 1);
      order[at] = &key;
      ++count;
      bytes += sizeof(Trie::TailHead) + key.size - node.depth;
    }
    if (tails_size_ + bytes >= Trie::kList)
      fail(ErrorCode::kResourceExhausted, "the tokens of the vocabulary hold more than 2 GiB");
    if (tails_size_ + bytes + kHead > tails_.size()) tails_.resize(2 * (tails_.size() + bytes + kHead));
    cells_[node.cell].base = Trie::kList | static_cast<std::uint32_t>(tails_size_);
    cells_[node.cell].value = static_cast<std::uint32_t>(count);
    trie_.size_ += count;
    char* out = tails_.data() + tails_size_;
    tails_size_ += bytes;
    for (std::size_t i = 0; i < count; ++i) {
      const Key& key = *order[i];
      const Trie::TailHead head{key.size - node.depth, key.value};
      std::memcpy(out, &head, sizeof head);
      out = key.write_tail(node.depth, out + sizeof head);
    }
  }

  /// Where among the first `count` keys, which are in order of their sizes, one equal to `key` stands; null if nowhere.
  static const Key** equal_key(const Key** keys, std::size_t count, const Key& key, std::uint32_t depth) {
    while (count-- > 0 && keys[count]->size == key.size) {
      const bool same = keys[count]->head == key.head &&
                        std::memcmp(keys[count]->text + depth, key.text + depth, key.size - depth) == 0;
      if (same) return &keys[count];
    }
    return nullptr;
  }

  /// A base whose cells are free, from the newest blocks, else from a new block. A block that was no use several times
  /// over is given up, so that the search stays short.
  std::uint32_t find_base(std::span<const unsigned char> labels) {
    for (std::size_t i = open_blocks_.size(); i-- > 0;) {
      OpenBlock& block = open_blocks_[i];
      FreeCells firsts = block.free;  // where the first child may stand
      for (std::size_t k = 1; k < labels.size() && !firsts.none(); ++k) {
        firsts.keep_common(block.free.moved_by(labels[k] ^ labels[0]));
      }
      if (!firsts.none()) return block.first_cell + (firsts.first() ^ labels[0]);
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

  Trie& trie_;
  LargeVector<Trie::Cell>& cells_;
  LargeVector<char>& tails_;
  std::size_t tails_size_ = 0;  ///< how much of tails_ is written
  std::string_view start_;
  LargeVector<Key> keys_;
  ByteGroups groups_;
  std::vector<Node> pending_;
  std::vector<OpenBlock> open_blocks_;
};

Trie::Trie() : Trie(std::span<const Entry>()) {}

Trie::Trie(std::span<const Entry> entries, std::string_view start) { TrieBuilder(*this, entries, start).build(); }

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
