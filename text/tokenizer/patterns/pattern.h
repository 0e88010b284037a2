#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sardonyx::text {

/// A match: bytes [begin, end) of the text searched.
struct Match {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

/// Something to search a text for.
class Pattern {
 public:
  virtual ~Pattern() = default;
  /// Appends all matches, in order and without overlap. `text` is valid UTF-8.
  virtual void find(std::string_view text, std::vector<Match>& matches) const = 0;
};

/// A pattern in Oniguruma's Ruby syntax. Well-known ones of language models become scanners of their own
/// (scanner_pattern); the others run on Oniguruma. Throws Error kInvalidModel where the expression is broken.
std::unique_ptr<Pattern> make_regex_pattern(std::string_view expression);
/// Matches the string itself; an empty one matches between all characters.
std::unique_ptr<Pattern> make_literal_pattern(std::string_view literal);

/// The expression on Oniguruma in any case.
std::unique_ptr<Pattern> make_oniguruma_pattern(std::string_view expression);
/// The hand-written scanner for a well-known expression, or null.
std::unique_ptr<Pattern> make_scanner_pattern(std::string_view expression);

/// GPT-2's expression, which ByteLevel uses.
extern const char kGpt2Expression[];

}  // namespace sardonyx::text
