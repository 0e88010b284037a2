#include <array>
#include <cstddef>

#include "text/tokenizer/patterns/pattern.h"
#include "text/tokenizer/unicode/properties.h"
#include "text/tokenizer/utf8.h"

namespace sardonyx::text {

const char kGpt2Expression[] = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

namespace {

enum Kind : std::uint8_t { kEnd, kLetter, kNumber, kSpace, kOther };

Kind kind_of(char32_t c) {
  const std::uint16_t flags = char_flags(c);
  if (flags & kPatternLetter) return kLetter;
  if (flags & kPatternNumber) return kNumber;
  return flags & kPatternSpace ? kSpace : kOther;
}

std::array<Kind, 128> make_ascii_kinds() {
  std::array<Kind, 128> kinds{};
  for (char32_t c = 0; c < 128; ++c) kinds[c] = kind_of(c);
  return kinds;
}

const std::array<Kind, 128> kAsciiKinds = make_ascii_kinds();

/// A text with the questions that the scanners ask of it.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  std::size_t size() const { return text_.size(); }
  char byte(std::size_t at) const { return at < text_.size() ? text_[at] : '\0'; }

  Kind kind(std::size_t at) const {
    if (at >= text_.size()) return kEnd;
    const auto lead = static_cast<unsigned char>(text_[at]);
    return lead < 0x80 ? kAsciiKinds[lead] : kind_of(utf8_decode(&text_[at]));
  }
  std::size_t next(std::size_t at) const { return at + utf8_length(static_cast<unsigned char>(text_[at])); }
  std::size_t previous(std::size_t at) const { return utf8_previous(text_, at); }
  char32_t character(std::size_t at) const { return utf8_decode(&text_[at]); }

  /// End of the run of `kind` that starts at `at`.
  std::size_t run(std::size_t at, Kind wanted) const {
    while (kind(at) == wanted) at = next(at);
    return at;
  }
  bool is_newline(std::size_t at) const { return byte(at) == '\n' || byte(at) == '\r'; }
  std::size_t newlines(std::size_t at) const {
    while (at < text_.size() && is_newline(at)) ++at;
    return at;
  }
  bool starts_with(std::size_t at, std::string_view prefix) const { return text_.substr(at).starts_with(prefix); }

  /// \s+(?!\S)|\s+ : the run of whitespace, less its last character where something follows and more than one is there.
  std::size_t whitespace(std::size_t at) const {
    const std::size_t end = run(at, kSpace);
    if (end == text_.size()) return end;
    const std::size_t last = previous(end);
    return last > at ? last : end;
  }

 private:
  std::string_view text_;
};

/// End of 's, 't, 're, 've, 'm, 'll or 'd at `at`, or `at`.
std::size_t contraction(const Cursor& text, std::size_t at, bool ignore_case) {
  if (text.byte(at) != '\'') return at;
  const auto letter = [&](std::size_t i) {
    const char c = text.byte(i);
    return ignore_case && c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  };
  const char first = letter(at + 1);
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return at + 2;
  // The long s is an s when case is ignored.
  if (ignore_case && text.starts_with(at + 1, "\xC5\xBF")) return at + 3;
  const char second = letter(at + 2);
  const bool is_pair =
      (first == 'r' && second == 'e') || (first == 'v' && second == 'e') || (first == 'l' && second == 'l');
  return is_pair ? at + 3 : at;
}

/// Runs `token_end` over the text; it gives the end of the match at a position, or the position itself for none.
template <typename TokenEnd>
void scan(std::string_view view, std::vector<Match>& matches, TokenEnd&& token_end) {
  const Cursor text(view);
  for (std::size_t at = 0; at < view.size();) {
    const std::size_t end = token_end(text, at);
    if (end > at) {
      matches.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(end)});
      at = end;
    } else {
      at = text.next(at);
    }
  }
}

class Gpt2Scanner : public Pattern {
 public:
  void find(std::string_view text, std::vector<Match>& matches) const override { scan(text, matches, token_end); }

 private:
  static std::size_t token_end(const Cursor& text, std::size_t at) {
    if (const std::size_t end = contraction(text, at, false); end > at) return end;
    const std::size_t body = text.byte(at) == ' ' ? at + 1 : at;
    const Kind kind = text.kind(body);
    if (kind != kSpace && kind != kEnd) return text.run(text.next(body), kind);
    return text.whitespace(at);
  }
};

class ClipScanner : public Pattern {
 public:
  void find(std::string_view text, std::vector<Match>& matches) const override { scan(text, matches, token_end); }

 private:
  static std::size_t token_end(const Cursor& text, std::size_t at) {
    for (const std::string_view special : {"<|startoftext|>", "<|endoftext|>"}) {
      if (text.starts_with(at, special)) return at + special.size();
    }
    if (const std::size_t end = contraction(text, at, false); end > at) return end;
    switch (text.kind(at)) {
      case kLetter: return text.run(at, kLetter);
      case kNumber: return text.next(at);
      case kOther: return text.run(at, kOther);
      default: return at;
    }
  }
};

/// What Llama 3, cl100k and Qwen 2 share after their words.
std::size_t number_end(const Cursor& text, std::size_t at, int most_digits) {
  for (int i = 0; i < most_digits && text.kind(at) == kNumber; ++i) at = text.next(at);
  return at;
}

///  ?[^\s\p{L}\p{N}]+[\r\n]* , then \s*[\r\n]+|\s+(?!\S)|\s+
std::size_t symbols_or_space_end(const Cursor& text, std::size_t at, bool slash_follows) {
  const std::size_t body = text.byte(at) == ' ' ? at + 1 : at;
  if (text.kind(body) == kOther) {
    std::size_t end = text.run(body, kOther);
    while (end < text.size() && (text.is_newline(end) || (slash_follows && text.byte(end) == '/'))) ++end;
    return end;
  }
  const std::size_t end = text.run(at, kSpace);
  for (std::size_t i = end; i > at; --i) {
    if (text.is_newline(i - 1)) return i;
  }
  return text.whitespace(at);
}

class Llama3Scanner : public Pattern {
 public:
  explicit Llama3Scanner(int most_digits) : most_digits_(most_digits) {}

  void find(std::string_view text, std::vector<Match>& matches) const override {
    scan(text, matches, [this](const Cursor& cursor, std::size_t at) { return token_end(cursor, at); });
  }

 private:
  std::size_t token_end(const Cursor& text, std::size_t at) const {
    if (const std::size_t end = contraction(text, at, true); end > at) return end;
    const Kind kind = text.kind(at);
    if (kind == kLetter) return text.run(at, kLetter);
    if (kind == kNumber) return number_end(text, at, most_digits_);
    if (!text.is_newline(at)) {
      const std::size_t body = text.next(at);
      if (text.kind(body) == kLetter) return text.run(body, kLetter);
    }
    return symbols_or_space_end(text, at, false);
  }

  int most_digits_;
};

class O200kScanner : public Pattern {
 public:
  void find(std::string_view text, std::vector<Match>& matches) const override { scan(text, matches, token_end); }

 private:
  /// [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]
  static bool is_upper(const Cursor& text, std::size_t at) {
    if (at >= text.size()) return false;
    const std::uint16_t flags = char_flags(text.character(at));
    return (flags & (kPatternLetter | kPatternMark)) && !(flags & kPatternLower);
  }
  /// [\p{Ll}\p{Lm}\p{Lo}\p{M}]
  static bool is_lower(const Cursor& text, std::size_t at) {
    if (at >= text.size()) return false;
    const std::uint16_t flags = char_flags(text.character(at));
    return (flags & (kPatternLetter | kPatternMark)) && !(flags & kPatternUpper);
  }

  /// End of upper* lower+ from `at`, as backtracking finds it, or `at`.
  static std::size_t lower_word(const Cursor& text, std::size_t at) {
    std::size_t end = at;
    while (is_upper(text, end)) end = text.next(end);
    if (!is_lower(text, end)) {
      while (end > at && !is_lower(text, text.previous(end))) end = text.previous(end);
      return end;
    }
    while (is_lower(text, end)) end = text.next(end);
    return end;
  }

  /// End of upper+ lower* from `at`, or `at`.
  static std::size_t upper_word(const Cursor& text, std::size_t at) {
    std::size_t end = at;
    while (is_upper(text, end)) end = text.next(end);
    if (end == at) return at;
    while (is_lower(text, end)) end = text.next(end);
    return end;
  }

  static std::size_t token_end(const Cursor& text, std::size_t at) {
    const Kind kind = text.kind(at);
    const bool may_lead = kind != kLetter && kind != kNumber && !text.is_newline(at);
    for (const auto word : {&lower_word, &upper_word}) {
      if (may_lead) {
        const std::size_t body = text.next(at);
        if (const std::size_t end = word(text, body); end > body) return contraction(text, end, true);
      }
      if (const std::size_t end = word(text, at); end > at) return contraction(text, end, true);
    }
    if (kind == kNumber) return number_end(text, at, 3);
    return symbols_or_space_end(text, at, true);
  }
};

}  // namespace

std::unique_ptr<Pattern> make_scanner_pattern(std::string_view expression) {
  if (expression == kGpt2Expression) return std::make_unique<Gpt2Scanner>();
  if (expression == R"(<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+)") {
    return std::make_unique<ClipScanner>();
  }
  constexpr std::string_view kHead = R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|)";
  constexpr std::string_view kTail = R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
  if (expression.starts_with(kHead) && expression.ends_with(kTail)) {
    const std::string_view digits = expression.substr(kHead.size(), expression.size() - kHead.size() - kTail.size());
    if (digits == R"(\p{N}{1,3})") return std::make_unique<Llama3Scanner>(3);
    if (digits == R"(\p{N})") return std::make_unique<Llama3Scanner>(1);
  }
  constexpr std::string_view kO200k =
      R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
      R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
      R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
  if (expression == kO200k) return std::make_unique<O200kScanner>();
  return nullptr;
}

}  // namespace sardonyx::text
