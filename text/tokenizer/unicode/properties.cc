#include "text/tokenizer/unicode/properties.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace sardonyx::text {

namespace {

#include "text/tokenizer/unicode/tables.inc"

constexpr int kBlockBits = 7;

template <typename Stage1, typename Stage2>
auto look_up(const Stage1* stage1, const Stage2* stage2, char32_t c) {
  return stage2[(static_cast<std::size_t>(stage1[c >> kBlockBits]) << kBlockBits) + (c & ((1 << kBlockBits) - 1))];
}

std::span<const std::uint32_t> pool_entry(const std::uint32_t* pool, std::size_t at) {
  return at == 0 ? std::span<const std::uint32_t>() : std::span(pool + at + 1, pool[at]);
}

// Hangul syllables by arithmetic (The Unicode Standard, 3.12).
constexpr char32_t kSyllableBase = 0xAC00, kLeadBase = 0x1100, kVowelBase = 0x1161, kTrailBase = 0x11A7;
constexpr char32_t kVowels = 21, kTrails = 28, kLeads = 19;
constexpr char32_t kSyllables = kLeads * kVowels * kTrails;

}  // namespace

std::uint16_t char_flags(char32_t c) { return kFlagSets[look_up(kFlagStage1, kFlagStage2, c)]; }

std::uint8_t combining_class(char32_t c) {
  return static_cast<std::uint8_t>(look_up(kCombiningClassStage1, kCombiningClassStage2, c));
}

std::uint8_t script_class(char32_t c) { return static_cast<std::uint8_t>(look_up(kScriptStage1, kScriptStage2, c)); }

GraphemeClass grapheme_class(char32_t c) {
  return static_cast<GraphemeClass>(look_up(kGraphemeStage1, kGraphemeStage2, c));
}

std::span<const std::uint32_t> lowercase(char32_t c) {
  return pool_entry(kLowercasePool, look_up(kLowercaseStage1, kLowercaseStage2, c));
}

std::span<const std::uint32_t> canonical_decomposition(char32_t c) {
  return pool_entry(kCanonicalPool, look_up(kCanonicalStage1, kCanonicalStage2, c));
}

std::span<const std::uint32_t> compatible_decomposition(char32_t c) {
  return pool_entry(kCompatiblePool, look_up(kCompatibleStage1, kCompatibleStage2, c));
}

int decompose_hangul(char32_t c, char32_t out[3]) {
  if (c < kSyllableBase || c >= kSyllableBase + kSyllables) return 0;
  const char32_t index = c - kSyllableBase;
  out[0] = kLeadBase + index / (kVowels * kTrails);
  out[1] = kVowelBase + index / kTrails % kVowels;
  if (index % kTrails == 0) return 2;
  out[2] = kTrailBase + index % kTrails;
  return 3;
}

char32_t compose(char32_t first, char32_t second) {
  if (first >= kLeadBase && first < kLeadBase + kLeads && second >= kVowelBase && second < kVowelBase + kVowels) {
    return kSyllableBase + ((first - kLeadBase) * kVowels + (second - kVowelBase)) * kTrails;
  }
  if (first >= kSyllableBase && first < kSyllableBase + kSyllables && (first - kSyllableBase) % kTrails == 0 &&
      second > kTrailBase && second < kTrailBase + kTrails) {
    return first + (second - kTrailBase);
  }
  std::size_t low = 0, high = std::size(kCompositions) / 3;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    const std::uint32_t* row = kCompositions + 3 * middle;
    if (row[0] == first && row[1] == second) return row[2];
    if (row[0] < first || (row[0] == first && row[1] < second)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return 0;
}

}  // namespace sardonyx::text
