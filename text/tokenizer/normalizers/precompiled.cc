#include "text/tokenizer/normalizers/precompiled.h"

#include <algorithm>
#include <cstring>

#include "base/fail.h"
#include "text/tokenizer/unicode/graphemes.h"
#include "text/tokenizer/utf8.h"

namespace sardonyx::text {

namespace {

// A unit of the double array, as darts-clone packs it.
bool has_leaf(std::uint32_t unit) { return (unit >> 8 & 1) == 1; }
std::uint32_t value_of(std::uint32_t unit) { return unit & 0x7FFFFFFF; }
std::uint32_t label_of(std::uint32_t unit) { return unit & 0x800000FF; }
std::uint32_t offset_of(std::uint32_t unit) { return unit >> 10 << ((unit & 0x200) >> 6); }

/// Longest cluster that is looked up whole, plus one.
constexpr std::size_t kClusterLimit = 6;

}  // namespace

PrecompiledNormalizer::PrecompiledNormalizer(std::string_view map) {
  std::uint32_t size = 0;
  if (map.size() >= 4) std::memcpy(&size, map.data(), 4);
  if (map.size() < 4 || size % 4 != 0 || size > map.size() - 4) {
    fail(ErrorCode::kInvalidModel, "tokenizer file: the precompiled character map has {} bytes, which do not hold its trie of {}",
         map.size(), size);
  }
  units_.resize(size / 4);
  std::memcpy(units_.data(), map.data() + 4, size);
  replacements_ = map.substr(4 + size);
  if (find_invalid_utf8(replacements_) != std::string_view::npos) {
    fail(ErrorCode::kInvalidModel, "tokenizer file: the replacements of the precompiled character map are not UTF-8");
  }
  for (std::uint32_t c = 0; c < 128; ++c) {
    if (units_.empty()) break;
    const std::uint32_t at = offset_of(units_[0]) ^ c;
    if (at < units_.size() && label_of(units_[at]) == c) ascii_replaced_[c / 32] |= 1u << c % 32;
  }
}

std::optional<std::string_view> PrecompiledNormalizer::find(std::string_view text) const {
  if (units_.empty()) return std::nullopt;
  std::uint32_t at = offset_of(units_[0]);
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte == 0) break;
    at ^= byte;
    if (at >= units_.size() || label_of(units_[at]) != byte) return std::nullopt;
    const std::uint32_t unit = units_[at];
    at ^= offset_of(unit);
    if (!has_leaf(unit)) continue;
    if (at >= units_.size()) return std::nullopt;
    const std::size_t begin = value_of(units_[at]);
    if (begin > replacements_.size()) return std::nullopt;
    const std::string_view rest = std::string_view(replacements_).substr(begin);
    return rest.substr(0, rest.find('\0'));
  }
  return std::nullopt;
}

namespace {

struct Changed {
  char32_t c;
  int change;
};

/// Writes `to` in place of `from`, counting as the reference does: surplus characters are added at the end, missing ones are
/// charged to the last character written, whichever it was.
void substitute(std::string_view from, std::string_view to, std::vector<Changed>& out) {
  const auto old_count = static_cast<int>(utf8_count(from));
  int new_count = 0;
  for (std::size_t i = 0; i < to.size(); i += utf8_length(static_cast<unsigned char>(to[i])), ++new_count) {
    out.push_back({utf8_decode(&to[i]), 0});
  }
  for (int i = 0; i < std::min(new_count - old_count, static_cast<int>(out.size())); ++i) out[out.size() - 1 - i].change = 1;
  if (new_count < old_count && !out.empty()) out.back().change += new_count - old_count;
}

}  // namespace

void PrecompiledNormalizer::normalize(AlignedText& aligned) const {
  const std::string_view text = aligned.text();
  const auto is_plain = [&](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x80 && byte != '\r' && !(ascii_replaced_[byte / 32] >> byte % 32 & 1);
  };
  if (std::all_of(text.begin(), text.end(), is_plain)) return;
  std::vector<Changed> out;
  out.reserve(text.size());
  bool modified = false;
  GraphemeBreaker breaker(text);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = breaker.next(at);
    const std::string_view cluster = text.substr(at, end - at);
    at = end;
    const auto whole = cluster.size() < kClusterLimit ? find(cluster) : std::nullopt;
    if (whole) {
      modified = true;
      substitute(cluster, *whole, out);
      continue;
    }
    for (std::size_t i = 0; i < cluster.size();) {
      const std::string_view character = cluster.substr(i, utf8_length(static_cast<unsigned char>(cluster[i])));
      i += character.size();
      if (const auto replacement = find(character)) {
        modified = true;
        substitute(character, *replacement, out);
      } else {
        out.push_back({utf8_decode(character.data()), 0});
      }
    }
  }
  if (!modified) return;
  Rewriter rewriter(aligned);
  for (const Changed& changed : out) rewriter.change(changed.c, changed.change);
  rewriter.finish(aligned);
}

}  // namespace sardonyx::text
