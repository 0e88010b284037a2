#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sardonyx::text {

/// SentencePiece's compiled character map: a double-array trie (darts-clone's layout) over UTF-8, whose values are
/// offsets of zero-terminated replacements.
class CharacterMap {
 public:
  /// Throws Error kInvalidModel where the map is damaged.
  explicit CharacterMap(std::string_view map);

  struct Replacement {
    std::size_t length = 0;  ///< of the key, in bytes
    std::string_view text;
  };
  /// What replaces the shortest, or the longest, key that `text` starts with.
  std::optional<Replacement> shortest(std::string_view text) const { return find(text, true); }
  std::optional<Replacement> longest(std::string_view text) const { return find(text, false); }

  /// Whether a key may begin with this byte; true for all that are not ASCII.
  bool may_replace(char c) const {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x80 || (starts_key_[byte / 32] >> byte % 32 & 1) != 0;
  }
  /// Whether this ASCII character is a key.
  bool is_key(char c) const {
    const auto byte = static_cast<unsigned char>(c);
    return (is_key_[byte / 32] >> byte % 32 & 1) != 0;
  }

 private:
  std::optional<Replacement> find(std::string_view text, bool first) const;

  std::vector<std::uint32_t> units_;
  std::string replacements_;
  std::uint32_t starts_key_[4] = {};  ///< bit per ASCII character: it may start a key
  std::uint32_t is_key_[4] = {};      ///< bit per ASCII character: it is one
};

}  // namespace sardonyx::text
