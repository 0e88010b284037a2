#include <algorithm>
#include <mutex>
#include <oniguruma.h>
#include <string>

#include "base/fail.h"
#include "text/tokenizer/patterns/pattern.h"
#include "text/tokenizer/patterns/property_expansion.h"
#include "text/tokenizer/utf8.h"

namespace sardonyx::text {

namespace {

/// Steps that one search may take back; far beyond honest expressions, it ends hostile ones.
constexpr unsigned long kRetryLimit = 10'000'000;

void initialize() {
  static std::once_flag once;
  std::call_once(once, [] {
    OnigEncoding encodings[] = {ONIG_ENCODING_UTF8};
    onig_initialize(encodings, 1);
    onig_set_retry_limit_in_match(kRetryLimit);
    onig_set_retry_limit_in_search(kRetryLimit);
  });
}

std::string message_of(int code, const OnigErrorInfo* info = nullptr) {
  OnigUChar buffer[ONIG_MAX_ERROR_MESSAGE_LEN];
  const int size = info == nullptr ? onig_error_code_to_str(buffer, code) : onig_error_code_to_str(buffer, code, info);
  return std::string(reinterpret_cast<char*>(buffer), static_cast<std::size_t>(size));
}

const OnigUChar* bytes(std::string_view text) { return reinterpret_cast<const OnigUChar*>(text.data()); }

class OnigurumaPattern : public Pattern {
 public:
  explicit OnigurumaPattern(std::string_view expression) : expression_(expression) {
    initialize();
    const std::string expanded = expand_properties(expression);
    OnigErrorInfo info;
    const int code = onig_new(&regex_, bytes(expanded), bytes(expanded) + expanded.size(), ONIG_OPTION_NONE,
                              ONIG_ENCODING_UTF8, ONIG_SYNTAX_RUBY, &info);
    if (code != ONIG_NORMAL) {
      fail(ErrorCode::kInvalidModel, "tokenizer file: the regular expression '{}' is broken: {}", expression_,
           message_of(code, &info));
    }
  }
  ~OnigurumaPattern() override { onig_free(regex_); }
  OnigurumaPattern(const OnigurumaPattern&) = delete;
  OnigurumaPattern& operator=(const OnigurumaPattern&) = delete;

  void find(std::string_view text, std::vector<Match>& matches) const override {
    OnigRegion* region = onig_region_new();
    try {
      find_all(text, region, matches);
    } catch (...) {
      onig_region_free(region, 1);
      throw;
    }
    onig_region_free(region, 1);
  }

 private:
  /// As the reference's iterator does: an empty match right after the last match is passed over by one character.
  void find_all(std::string_view text, OnigRegion* region, std::vector<Match>& matches) const {
    const OnigUChar* begin = bytes(text);
    const OnigUChar* end = begin + text.size();
    std::size_t from = 0, last_end = std::string_view::npos;
    while (from <= text.size()) {
      const int code = onig_search(regex_, begin, end, begin + from, end, region, ONIG_OPTION_NONE);
      if (code == ONIG_MISMATCH) return;
      if (code < 0) {
        fail(ErrorCode::kResourceExhausted, "searching the text for '{}' was given up: {}", expression_,
             message_of(code));
      }
      const auto match_begin = static_cast<std::size_t>(region->beg[0]);
      const auto match_end = static_cast<std::size_t>(region->end[0]);
      if (match_begin == match_end && match_end == last_end) {
        from += from < text.size() ? utf8_length(static_cast<unsigned char>(text[from])) : 1;
        continue;
      }
      from = last_end = match_end;
      matches.push_back({static_cast<std::uint32_t>(match_begin), static_cast<std::uint32_t>(match_end)});
    }
  }

  std::string expression_;
  OnigRegex regex_ = nullptr;
};

class LiteralPattern : public Pattern {
 public:
  explicit LiteralPattern(std::string_view literal) : literal_(literal) {}

  void find(std::string_view text, std::vector<Match>& matches) const override {
    if (literal_.empty()) return;
    for (std::size_t at = 0; (at = text.find(literal_, at)) != std::string_view::npos; at += literal_.size()) {
      matches.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at + literal_.size())});
    }
  }

 private:
  std::string literal_;
};

}  // namespace

std::unique_ptr<Pattern> make_oniguruma_pattern(std::string_view expression) {
  return std::make_unique<OnigurumaPattern>(expression);
}

std::unique_ptr<Pattern> make_literal_pattern(std::string_view literal) {
  // An empty string is an empty expression to the reference: it matches between all characters.
  if (literal.empty()) return make_oniguruma_pattern("");
  return std::make_unique<LiteralPattern>(literal);
}

std::unique_ptr<Pattern> make_regex_pattern(std::string_view expression) {
  if (auto scanner = make_scanner_pattern(expression)) return scanner;
  return make_oniguruma_pattern(expression);
}

}  // namespace sardonyx::text
