#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sardonyx::text {

/// The text of each token by its id, all in one block of memory. Ids may have gaps.
class TokenStrings {
 public:
  /// Ids above this are refused: they come from a broken file, and the table is as long as the highest id.
  static constexpr std::uint32_t kMaxId = 1u << 26;
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  void reserve(std::size_t tokens, std::size_t bytes);
  /// Where a token stands in the block.
  struct Place {
    std::uint32_t at = 0;
    std::uint32_t length = kNone;

    bool operator==(const Place&) const = default;
  };

  /// Of equal ids the last counts. Throws Error kInvalidModel where the id is above kMaxId, or the tokens pass 4 GiB.
  Place set(std::uint32_t id, std::string_view token);
  /// The id has the token of the place from now on.
  void set_place(std::uint32_t id, Place place);
  Place place(std::uint32_t id) const { return id < by_id_.size() ? by_id_[id] : Place(); }
  void remove(std::uint32_t id) { by_id_[id] = Place(); }

  /// The view lives until the next `set`.
  std::optional<std::string_view> get(std::uint32_t id) const {
    if (id >= by_id_.size() || by_id_[id].length == kNone) return std::nullopt;
    return text(by_id_[id]);
  }
  std::string_view text(Place place) const { return {bytes_.data() + place.at, place.length}; }

 private:
  std::string bytes_;
  std::vector<Place> by_id_;
};

}  // namespace sardonyx::text
