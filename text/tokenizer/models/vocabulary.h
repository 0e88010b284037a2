#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "text/tokenizer/large_vector.h"
#include "text/tokenizer/models/token_strings.h"

namespace sardonyx::text {

/// Tokens by id and ids by token. Ids may have gaps; of equal tokens, and of equal ids, the last added counts.
class Vocabulary {
 public:
  static constexpr std::uint32_t kNone = TokenStrings::kNone;

  void reserve(std::size_t tokens, std::size_t bytes);
  /// Throws Error kInvalidModel where the id is above TokenStrings::kMaxId.
  void add(std::string_view token, std::uint32_t id);

  /// Id of the token, or kNone.
  std::uint32_t find(std::string_view token) const;
  std::optional<std::uint32_t> find_optional(std::string_view token) const {
    const std::uint32_t id = find(token);
    return id == kNone ? std::nullopt : std::optional(id);
  }
  std::optional<std::string_view> token(std::uint32_t id) const { return strings_.get(id); }
  /// Number of distinct tokens.
  std::size_t size() const { return size_; }

  /// Calls `visit(token, id)` for each distinct token.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (const Slot& slot : slots_) {
      if (slot.place.length != kNone) visit(strings_.text(slot.place), slot.id);
    }
  }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t id = 0;
    TokenStrings::Place place;
  };

  std::size_t locate(std::string_view token, std::uint32_t hash) const;
  void grow(std::size_t slots);

  TokenStrings strings_;
  LargeVector<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace sardonyx::text
