#include <gtest/gtest.h>
#include <random>
#include <string>

#include "text/tokenizer/patterns/pattern.h"
#include "text/tokenizer/utf8.h"

namespace sardonyx::text {
namespace {

struct Known {
  const char* name;
  const char* expression;
};

constexpr char kLlama3[] =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr char kQwen2[] =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr char kO200k[] =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr char kClip[] =
    R"(<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+)";

class Scanner : public testing::TestWithParam<Known> {
 protected:
  void expect_same(const std::string& text) {
    std::vector<Match> ours, theirs;
    scanner_->find(text, ours);
    oniguruma_->find(text, theirs);
    ASSERT_EQ(ours.size(), theirs.size()) << testing::PrintToString(text);
    for (std::size_t i = 0; i < ours.size(); ++i) {
      ASSERT_EQ(ours[i].begin, theirs[i].begin) << testing::PrintToString(text);
      ASSERT_EQ(ours[i].end, theirs[i].end) << testing::PrintToString(text);
    }
  }

  std::unique_ptr<Pattern> scanner_ = make_scanner_pattern(GetParam().expression);
  std::unique_ptr<Pattern> oniguruma_ = make_oniguruma_pattern(GetParam().expression);
};

std::string one(char32_t c) {
  std::string text;
  utf8_append(text, c);
  return text;
}

bool is_surrogate(char32_t c) { return c >= 0xD800 && c < 0xE000; }

TEST_P(Scanner, AgreesOnEveryCodePoint) {
  ASSERT_NE(scanner_, nullptr);
  std::string together;
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (is_surrogate(c)) continue;
    together += "a" + one(c) + "B1 " + one(c) + one(c) + "'s" + one(c);
    if (c % 256 != 255) continue;
    expect_same(together);
    together.clear();
  }
}

TEST_P(Scanner, AgreesOnRandomTexts) {
  // Few characters of every kind, so that all alternatives meet.
  const char32_t kAlphabet[] = {'a',  'B',   's',   'l',   'L',    'T',   'r',  'e',    '\'',    ' ',    ' ',
                                '\n', '\r',  '\t',  '1',   '2',    '.',   '/',  '<',    '|',     0x301,  0xE9,
                                0xC9, 0x17F, 0x1C5, 0x2B0, 0x4E00, 0x660, 0xA0, 0x2028, 0x1F600, 0xE000, 0x378};
  std::mt19937 random(7);
  for (int i = 0; i < 30000; ++i) {
    std::string text;
    for (std::size_t k = random() % 14; k-- > 0;) utf8_append(text, kAlphabet[random() % std::size(kAlphabet)]);
    expect_same(text);
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Scanner,
                         testing::Values(Known{"gpt2", kGpt2Expression}, Known{"llama3", kLlama3},
                                         Known{"qwen2", kQwen2}, Known{"o200k", kO200k}, Known{"clip", kClip}),
                         [](const auto& info) { return info.param.name; });

TEST(Patterns, UnknownExpressionsHaveNoScanner) { EXPECT_EQ(make_scanner_pattern(R"(\p{L}+)"), nullptr); }

}  // namespace
}  // namespace sardonyx::text
