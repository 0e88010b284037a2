#include "text/tokenizer/patterns/property_expansion.h"

#include <cstdint>
#include <fmt/core.h>
#include <iterator>
#include <span>

namespace sardonyx::text {

namespace {

/// Ranges of one property: `count` numbers, first and last in turn, from `begin` of the pool.
struct PatternSetRow {
  std::string_view name;
  std::uint32_t begin;
  std::uint32_t count;
};

#include "text/tokenizer/unicode/pattern_sets.inc"

struct LongName {
  std::string_view long_name, name;
};
constexpr LongName kLongNames[] = {
    {"letter", "l"},
    {"mark", "m"},
    {"number", "n"},
    {"punctuation", "p"},
    {"symbol", "s"},
    {"separator", "z"},
    {"other", "c"},
    {"uppercaseletter", "lu"},
    {"lowercaseletter", "ll"},
    {"titlecaseletter", "lt"},
    {"modifierletter", "lm"},
    {"otherletter", "lo"},
    {"nonspacingmark", "mn"},
    {"spacingmark", "mc"},
    {"enclosingmark", "me"},
    {"decimalnumber", "nd"},
    {"letternumber", "nl"},
    {"othernumber", "no"},
    {"connectorpunctuation", "pc"},
    {"dashpunctuation", "pd"},
    {"openpunctuation", "ps"},
    {"closepunctuation", "pe"},
    {"initialpunctuation", "pi"},
    {"finalpunctuation", "pf"},
    {"otherpunctuation", "po"},
    {"mathsymbol", "sm"},
    {"currencysymbol", "sc"},
    {"modifiersymbol", "sk"},
    {"othersymbol", "so"},
    {"spaceseparator", "zs"},
    {"lineseparator", "zl"},
    {"paragraphseparator", "zp"},
    {"control", "cc"},
    {"format", "cf"},
    {"privateuse", "co"},
    {"unassigned", "cn"},
};

/// Property names compare without case, spaces, hyphens and underscores.
std::string key_of(std::string_view name) {
  std::string key;
  for (char c : name) {
    if (c == ' ' || c == '-' || c == '_') continue;
    key.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c);
  }
  return key;
}

std::span<const std::uint32_t> ranges_of(std::string_view name) {
  std::string key = key_of(name);
  for (const LongName& row : kLongNames) {
    if (row.long_name == key) key = row.name;
  }
  for (const PatternSetRow& row : kPatternSets) {
    if (row.name == key) return std::span(kPatternRanges + row.begin, row.count);
  }
  return {};
}

/// A bracket expression of the ranges.
std::string bracket(std::span<const std::uint32_t> ranges, bool negated) {
  std::string text = negated ? "[^" : "[";
  for (std::size_t i = 0; i + 1 < ranges.size(); i += 2) {
    text += fmt::format("\\x{{{:x}}}", ranges[i]);
    if (ranges[i + 1] != ranges[i]) text += fmt::format("-\\x{{{:x}}}", ranges[i + 1]);
  }
  return text + "]";
}

class Expander {
 public:
  explicit Expander(std::string_view expression) : in_(expression) {}

  std::string run() {
    while (at_ < in_.size()) {
      if (in_[at_] == '\\') {
        escape();
      } else if (in_.substr(at_, 2) == "[:" && depth_ > 0) {
        posix();
      } else {
        depth_ += in_[at_] == '[' ? 1 : in_[at_] == ']' && depth_ > 0 ? -1 : 0;
        out_.push_back(in_[at_++]);
      }
    }
    return std::move(out_);
  }

 private:
  void escape() {
    const char kind = at_ + 1 < in_.size() ? in_[at_ + 1] : '\0';
    if ((kind == 'p' || kind == 'P') && property(kind == 'P')) return;
    const std::string_view name = shorthand(kind);
    if (!name.empty()) {
      // Within brackets the reference's engine reads other tables than outside.
      const auto ranges = depth_ > 0 ? ranges_of(fmt::format("[{}]", name)) : ranges_of(name);
      out_ += bracket(ranges, kind >= 'A' && kind <= 'Z');
      at_ += 2;
      return;
    }
    out_.append(in_.substr(at_, 2));
    at_ += 2;
  }

  static std::string_view shorthand(char kind) {
    switch (kind) {
      case 's':
      case 'S': return "\\s";
      case 'd':
      case 'D': return "\\d";
      case 'w':
      case 'W': return "\\w";
      default: return {};
    }
  }

  bool property(bool negated) {
    if (at_ + 2 >= in_.size() || in_[at_ + 2] != '{') return false;
    const std::size_t close = in_.find('}', at_);
    if (close == std::string_view::npos) return false;
    std::string_view name = in_.substr(at_ + 3, close - at_ - 3);
    if (name.starts_with('^')) {
      negated = !negated;
      name.remove_prefix(1);
    }
    const auto ranges = ranges_of(name);
    if (ranges.empty()) return false;
    out_ += bracket(ranges, negated);
    at_ = close + 1;
    return true;
  }

  void posix() {
    const std::size_t close = in_.find(":]", at_);
    std::string_view name = close == std::string_view::npos ? std::string_view() : in_.substr(at_ + 2, close - at_ - 2);
    const bool negated = name.starts_with('^');
    if (negated) name.remove_prefix(1);
    const auto ranges = ranges_of(fmt::format("[:{}:]", name));
    if (ranges.empty()) {
      ++depth_;
      out_.push_back(in_[at_++]);
      return;
    }
    out_ += bracket(ranges, negated);
    at_ = close + 2;
  }

  std::string_view in_;
  std::string out_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::string expand_properties(std::string_view expression) { return Expander(expression).run(); }

}  // namespace sardonyx::text
