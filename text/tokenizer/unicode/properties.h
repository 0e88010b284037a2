#pragma once

#include <cstdint>
#include <span>

namespace sardonyx::text {

/// Properties of code points, each as the component that uses it sees them: the components of the reference follow
/// different Unicode versions. tables.inc is generated from the reference; the bits are in the generator's order.
enum CharFlag : std::uint16_t {
  kWhitespace = 1 << 0,      ///< White_Space: WhitespaceSplit, BertPreTokenizer, Strip
  kBertControl = 1 << 1,     ///< dropped by BertNormalizer's cleaning
  kNonspacingMark = 1 << 2,  ///< dropped by BertNormalizer's accent stripping
  kPunctuation = 1 << 3,     ///< Punctuation, BertPreTokenizer
  kCombiningMark = 1 << 4,   ///< dropped by StripAccents
  kNumeric = 1 << 5,         ///< Digits
  kWord = 1 << 6,            ///< \w of Whitespace and of added tokens' single_word
  kPatternSpace = 1 << 7,    ///< \s in patterns
  kPatternLetter = 1 << 8,   ///< \p{L} in patterns
  kPatternNumber = 1 << 9,   ///< \p{N} in patterns
  kPatternMark = 1 << 10,    ///< \p{M} in patterns
  kPatternUpper = 1 << 11,   ///< \p{Lu} and \p{Lt} in patterns
  kPatternLower = 1 << 12,   ///< \p{Ll} in patterns
};

std::uint16_t char_flags(char32_t c);
inline bool has_flag(char32_t c, std::uint16_t flags) { return (char_flags(c) & flags) != 0; }

/// Which script UnicodeScripts counts the character to: a number per script, 0 for those that never cause a cut.
std::uint8_t script_class(char32_t c);

/// Grapheme_Cluster_Break, and Extended_Pictographic.
enum class GraphemeClass : std::uint8_t {
  kOther,
  kCr,
  kLf,
  kControl,
  kExtend,
  kZwj,
  kRegional,
  kPrepend,
  kSpacingMark,
  kL,
  kV,
  kT,
  kLv,
  kLvt,
  kPictographic,
};
GraphemeClass grapheme_class(char32_t c);

/// Canonical combining class.
std::uint8_t combining_class(char32_t c);

/// What the character becomes, or an empty span where it stays as it is.
std::span<const std::uint32_t> lowercase(char32_t c);
/// Full decomposition, or an empty span. Hangul syllables are not in the tables: see decompose_hangul.
std::span<const std::uint32_t> canonical_decomposition(char32_t c);
std::span<const std::uint32_t> compatible_decomposition(char32_t c);

/// Number of jamo (0, 2 or 3) written to `out`.
int decompose_hangul(char32_t c, char32_t out[3]);

/// The canonical composition of two characters, or 0. Includes Hangul.
char32_t compose(char32_t first, char32_t second);

}  // namespace sardonyx::text
