#include "text/tokenizer/normalizers/character_map.h"

#include <cstring>

#include "base/fail.h"
#include "text/tokenizer/utf8.h"

namespace sardonyx::text {

namespace {

// A unit of the double array, as darts-clone packs it.
bool has_leaf(std::uint32_t unit) { return (unit >> 8 & 1) == 1; }
std::uint32_t value_of(std::uint32_t unit) { return unit & 0x7FFFFFFF; }
std::uint32_t label_of(std::uint32_t unit) { return unit & 0x800000FF; }
std::uint32_t offset_of(std::uint32_t unit) { return unit >> 10 << ((unit & 0x200) >> 6); }

}  // namespace

CharacterMap::CharacterMap(std::string_view map) {
  std::uint32_t size = 0;
  if (map.size() >= 4) std::memcpy(&size, map.data(), 4);
  if (map.size() < 4 || size % 4 != 0 || size > map.size() - 4) {
    fail(ErrorCode::kInvalidModel,
         "tokenizer file: the precompiled character map has {} bytes, which do not hold its trie of {}", map.size(),
         size);
  }
  units_.resize(size / 4);
  if (size > 0) std::memcpy(units_.data(), map.data() + 4, size);
  replacements_ = map.substr(4 + size);
  if (find_invalid_utf8(replacements_) != std::string_view::npos) {
    fail(ErrorCode::kInvalidModel, "tokenizer file: the replacements of the precompiled character map are not UTF-8");
  }
  for (std::uint32_t c = 0; c < 128 && !units_.empty(); ++c) {
    const std::uint32_t at = offset_of(units_[0]) ^ c;
    if (at < units_.size() && label_of(units_[at]) == c) starts_key_[c / 32] |= 1u << c % 32;
    const auto byte = static_cast<char>(c);
    if (shortest({&byte, 1})) is_key_[c / 32] |= 1u << c % 32;
  }
}

std::optional<CharacterMap::Replacement> CharacterMap::find(std::string_view text, bool first) const {
  std::optional<Replacement> found;
  if (units_.empty()) return found;
  std::uint32_t at = offset_of(units_[0]);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == 0) break;
    at ^= byte;
    if (at >= units_.size() || label_of(units_[at]) != byte) break;
    const std::uint32_t unit = units_[at];
    at ^= offset_of(unit);
    if (!has_leaf(unit)) continue;
    if (at >= units_.size()) break;
    const std::size_t begin = value_of(units_[at]);
    if (begin > replacements_.size()) break;
    const std::string_view rest = std::string_view(replacements_).substr(begin);
    found = {i + 1, rest.substr(0, rest.find('\0'))};
    if (first) break;
  }
  return found;
}

}  // namespace sardonyx::text
