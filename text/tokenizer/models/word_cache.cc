#include "text/tokenizer/models/word_cache.h"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace sardonyx::text {

WordCache::WordCache() : entries_(std::make_unique<Entry[]>(kEntries)) {}

WordCache& WordCache::of_thread() {
  thread_local WordCache cache;
  return cache;
}

std::uint32_t WordCache::new_owner() {
  static std::atomic<std::uint32_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

std::size_t WordCache::slot_of(std::uint32_t owner, std::string_view word) {
  char bytes[24] = {};
  std::memcpy(bytes, word.data(), word.size());
  std::uint64_t words[3];
  std::memcpy(words, bytes, sizeof words);
  std::uint64_t hash = (words[0] ^ owner) * 0x9E3779B97F4A7C15u;
  hash = (hash ^ (hash >> 29) ^ words[1]) * 0xBF58476D1CE4E5B9u;
  hash = (hash ^ (hash >> 32) ^ words[2]) * 0x94D049BB133111EBu;
  return (hash >> 40) % kEntries;
}

bool WordCache::find(std::uint32_t owner, std::string_view word, std::uint32_t base,
                     std::vector<ModelToken>& out) const {
  const Entry& entry = entries_[slot_of(owner, word)];
  if (entry.owner != owner || entry.size != word.size() || std::memcmp(entry.word, word.data(), word.size()) != 0)
    return false;
  std::uint32_t begin = base;
  for (std::size_t i = 0; i < entry.count; ++i) {
    const std::uint32_t end = base + entry.ends[i];
    out.push_back({entry.ids[i], begin, end, 0, false});
    begin = end;
  }
  return true;
}

void WordCache::store(std::uint32_t owner, std::string_view word, std::uint32_t base,
                      const std::vector<ModelToken>& tokens, std::size_t first) {
  const std::size_t count = tokens.size() - first;
  if (!fits(word) || count > kMaxTokens) return;
  std::uint32_t begin = base;
  for (std::size_t i = first; i < tokens.size(); ++i) {
    if (tokens[i].is_surface || tokens[i].begin != begin) return;
    begin = tokens[i].end;
  }
  Entry& entry = entries_[slot_of(owner, word)];
  entry.owner = owner;
  entry.size = static_cast<std::uint8_t>(word.size());
  entry.count = static_cast<std::uint8_t>(count);
  std::memcpy(entry.word, word.data(), word.size());
  for (std::size_t i = 0; i < count; ++i) {
    entry.ids[i] = tokens[first + i].id;
    entry.ends[i] = static_cast<std::uint8_t>(tokens[first + i].end - base);
  }
}

}  // namespace sardonyx::text
