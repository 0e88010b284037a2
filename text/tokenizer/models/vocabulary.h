#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sardonyx::text {

/// Tokens by id and ids by token. Ids may have gaps; of equal tokens the last added counts.
class Vocabulary {
 public:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  /// Ids above this are refused: they come from a broken file, and the tables are as long as the highest id.
  static constexpr std::uint32_t kMaxId = 1u << 26;

  void reserve(std::size_t tokens, std::size_t bytes);
  /// Throws Error kInvalidModel where the id is above kMaxId.
  void add(std::string_view token, std::uint32_t id);

  /// Id of the token, or kNone.
  std::uint32_t find(std::string_view token) const;
  std::optional<std::uint32_t> find_optional(std::string_view token) const {
    const std::uint32_t id = find(token);
    return id == kNone ? std::nullopt : std::optional(id);
  }
  std::optional<std::string_view> token(std::uint32_t id) const;
  /// Number of distinct tokens.
  std::size_t size() const { return size_; }

  /// Calls `visit(token, id)` for each distinct token.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (const Slot& slot : slots_) {
      if (slot.length != kNone) visit(std::string_view(bytes_.data() + slot.at, slot.length), slot.id);
    }
  }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t at = 0;
    std::uint32_t length = kNone;
    std::uint32_t id = 0;
  };
  struct Place {
    std::uint32_t at = 0;
    std::uint32_t length = kNone;
  };

  std::size_t locate(std::string_view token, std::uint32_t hash) const;
  void grow(std::size_t slots);

  std::string bytes_;
  std::vector<Slot> slots_;
  std::vector<Place> by_id_;
  std::size_t size_ = 0;
};

}  // namespace sardonyx::text
