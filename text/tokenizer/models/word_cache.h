#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "text/tokenizer/models/model.h"

namespace sardonyx::text {

/// The tokens of recent short words: one table of fixed size per thread, shared by all models of the thread.
class WordCache {
 public:
  static constexpr std::size_t kMaxBytes = 19;
  static constexpr std::size_t kMaxTokens = 6;

  static WordCache& of_thread();
  /// A number that no other model has.
  static std::uint32_t new_owner();

  static bool fits(std::string_view word) { return word.size() <= kMaxBytes; }
  /// Appends the tokens of `word` (which fits) if they are known.
  bool find(std::uint32_t owner, std::string_view word, std::uint32_t base, std::vector<ModelToken>& out) const;
  /// Remembers tokens[first, …) as those of `word`, where they fit and are plain.
  void store(std::uint32_t owner, std::string_view word, std::uint32_t base, const std::vector<ModelToken>& tokens,
             std::size_t first);

 private:
  struct Entry {
    std::uint32_t owner = 0;
    std::uint32_t ids[kMaxTokens] = {};
    std::uint8_t ends[kMaxTokens] = {};
    std::uint8_t size = 0;
    std::uint8_t count = 0;
    char word[kMaxBytes + 1] = {};
    char unused[8] = {};
  };
  static_assert(sizeof(Entry) == 64);
  static constexpr std::size_t kEntries = 16384;

  WordCache();
  static std::size_t slot_of(std::uint32_t owner, std::string_view word);

  std::unique_ptr<Entry[]> entries_;
};

}  // namespace sardonyx::text
