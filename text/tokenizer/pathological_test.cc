// Texts made to be slow: every component must take time in proportion to the text, whatever it holds.

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <sys/resource.h>
#include <time.h>
#include <vector>

#include "sardonyx/error.h"

#include "text/tokenizer/tokenizer.h"

namespace sardonyx::text {
namespace {

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

std::string repeated(std::string_view unit, std::size_t bytes) {
  std::string text;
  text.reserve(bytes + unit.size());
  while (text.size() < bytes) text += unit;
  return text;
}

const std::string kWordPiece =
    R"({"type": "WordPiece", "unk_token": "u", "continuing_subword_prefix": "##", "max_input_chars_per_word": 4000000000,
        "vocab": {"u": 0, "a": 1, "##a": 2, "##aaaa": 3, "aaaa": 4}})";
const std::string kUnigram =
    R"({"type": "Unigram", "unk_id": 0, "vocab": [["u", 0.0], ["a", -1.0], ["aaaa", -2.0], ["\u2581", -1.5], ["\u2581\u2581", -1.6]]})";
const std::string kBpe =
    R"({"type": "BPE", "unk_token": "u", "vocab": {"u": 0, "a": 1, "b": 2, "ab": 3, "abab": 4, "\u0120": 5, "\u0120\u0120": 6},
        "merges": ["a b", "ab ab", "\u0120 \u0120"]})";

/// A chain: each merge makes one more letter's worth, and the first one is the last by rank.
std::string chain_bpe() {
  constexpr int kLongest = 200;
  std::string vocab = R"("a": 0)", merges;
  for (int length = 2; length <= kLongest; ++length) {
    vocab += ", \"" + std::string(length, 'a') + "\": " + std::to_string(length - 1);
    const std::string merge = "\"" + std::string(length - 1, 'a') + " a\"";
    merges = merges.empty() ? merge : merge + ", " + merges;
  }
  return R"({"type": "BPE", "vocab": {)" + vocab + R"(}, "merges": [)" + merges + "]}";
}

struct Case {
  const char* name;
  std::string model;
  std::string parts;  ///< further members of the file, or empty
  std::string unit;   ///< what the text repeats
  std::size_t bytes;
};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif
constexpr std::size_t kWord = kIsSanitized ? 400'000 : 4'000'000, kSpaces = kWord;
constexpr std::size_t kMarks = kIsSanitized ? 100'000 : 1'000'000;

std::string split_at(const std::string& expression) {
  return R"("pre_tokenizer": {"type": "Split", "behavior": "Isolated", "invert": false, "pattern": {"Regex": ")" +
         expression + "\"}}";
}

const std::string kLlama3 = split_at(
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+)");
const std::string kO200k = split_at(
    R"([^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+)");

std::string normalizer(const std::string& type, const std::string& members = "") {
  return R"("normalizer": {"type": ")" + type + "\"" + members + "}";
}

const std::string kBert =
    normalizer("BertNormalizer",
               R"(, "clean_text": true, "handle_chinese_chars": true, "strip_accents": true, "lowercase": true)") +
    R"(, "pre_tokenizer": {"type": "BertPreTokenizer"})";
const std::string kByteLevel = R"("pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": true, "use_regex": true})";
const std::string kMetaspace =
    R"("pre_tokenizer": {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": true})";
const std::string kStrippingToken =
    R"("added_tokens": [{"id": 9, "content": "x", "single_word": false, "lstrip": true, "rstrip": true, "normalized": false,
                         "special": false}])";
/// A character map with no keys.
const std::string kEmptyMap = normalizer("Precompiled", R"(, "precompiled_charsmap": "BAAAAAAAAAA=")");

class Pathological : public testing::TestWithParam<Case> {};

TEST_P(Pathological, TakesLinearTime) {
  const Case& c = GetParam();
  const Tokenizer tokenizer =
      Tokenizer::from_json(R"({"model": )" + c.model + (c.parts.empty() ? "" : ", " + c.parts) + "}");
  EncodeOptions options;
  options.tokens = false;
  const auto seconds = [&](std::size_t bytes) {
    const std::string text = repeated(c.unit, bytes);
    const double start = cpu_seconds();
    tokenizer.encode(text, options);
    return cpu_seconds() - start;
  };
  const double small = seconds(c.bytes / 8), large = seconds(c.bytes);
  // Quadratic time would make it 64-fold.
  EXPECT_LT(large, 24 * small + 0.5);
}

const std::string kMark = "\xCC\x81", kMarkBelow = "\xCC\x96";  // U+0301, U+0316: of different combining classes

INSTANTIATE_TEST_SUITE_P(
    All, Pathological,
    testing::Values(
        Case{"bpe_pairs", kBpe, "", "ab", kWord}, Case{"bpe_chain", chain_bpe(), "", "a", kWord},
        Case{"bpe_unknown", kBpe, "", "\xC3\xA9", kWord}, Case{"wordpiece", kWordPiece, "", "a", kWord},
        Case{"wordpiece_failing_late", kWordPiece, "", std::string(1000, 'a') + "b", kWord},
        Case{"unigram", kUnigram, "", "a", kWord}, Case{"unigram_unknown", kUnigram, "", "\xC3\xA9", kWord},
        Case{"spaces_bert", kWordPiece, kBert, " ", kSpaces}, Case{"spaces_byte_level", kBpe, kByteLevel, " ", kSpaces},
        Case{"spaces_llama3", kBpe, kLlama3, " ", kSpaces}, Case{"newlines_llama3", kBpe, kLlama3, " \n", kSpaces},
        Case{"spaces_o200k", kBpe, kO200k, " ", kSpaces}, Case{"capitals_o200k", kBpe, kO200k, "A", kWord},
        Case{"ideographs_o200k", kBpe, kO200k, "\xE4\xB8\xAD", kWord},
        Case{"spaces_metaspace", kUnigram, kMetaspace, " ", kSpaces},
        Case{"pieces_metaspace", kUnigram,
             R"("pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, )" +
                 kMetaspace.substr(kMetaspace.find('{')) + "]}",
             "a\n", kWord},
        Case{"spaces_replaced", kUnigram,
             normalizer("Replace", R"(, "pattern": {"Regex": " {2,}"}, "content": " ")") + ", " + kMetaspace, " ",
             kSpaces},
        Case{"spaces_stripped", kUnigram, normalizer("Strip", R"(, "strip_left": true, "strip_right": true)"), " ",
             kSpaces},
        Case{"spaces_before_token", kBpe, kStrippingToken, std::string(5000, ' ') + "x", kSpaces},
        Case{"tokens_only", kBpe, kStrippingToken, "x", kMarks}, Case{"marks_bert", kWordPiece, kBert, kMark, kMarks},
        Case{"marks_nfc", kBpe, normalizer("NFC"), kMark + kMarkBelow, kMarks},
        Case{"marks_nfd", kBpe, normalizer("NFD"), kMark + kMarkBelow, kMarks},
        Case{"marks_nfkc", kBpe, normalizer("NFKC"), kMark + kMarkBelow, kMarks},
        Case{"marks_stripped", kBpe, normalizer("StripAccents"), kMark, kMarks},
        Case{"marks_precompiled", kUnigram, kEmptyMap, kMark, kMarks},
        Case{"flags_precompiled", kUnigram, kEmptyMap, "\xF0\x9F\x87\xA9", kMarks},
        Case{"joiners_precompiled", kUnigram, kEmptyMap, "\xF0\x9F\x91\xA9\xE2\x80\x8D", kMarks},
        Case{"jamo_nfc", kBpe, normalizer("NFC"), "\xE1\x84\x80\xE1\x85\xA1\xE1\x86\xA8", kMarks},
        Case{"scripts", kBpe, R"("pre_tokenizer": {"type": "UnicodeScripts"})", "a\xD0\xB0 ", kMarks},
        Case{"digits", kBpe, R"("pre_tokenizer": {"type": "Digits", "individual_digits": true})", "1", kMarks}),
    [](const auto& info) { return info.param.name; });

TEST(Pathological, LongWordsTakeBoundedMemory) {
  const auto peak_bytes = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
  };
  if (kIsSanitized) GTEST_SKIP() << "sanitizers keep memory of their own";
  constexpr std::size_t kBytes = 10'000'000;
  // The peak of this process so far is below what the text is allowed, or else this shows nothing.
  const std::size_t before = peak_bytes();
  const std::string text = repeated("\xC3\xA9", kBytes);
  for (const std::string& model : {kBpe, kUnigram, kWordPiece}) {
    EncodeOptions options;
    Tokenizer::from_json(R"({"model": )" + model + ", " + normalizer("NFD") + "}").encode(text, options);
  }
  EXPECT_LT(peak_bytes(), before + 256 * kBytes);
}

std::string error_of(const Tokenizer& tokenizer, const std::string& text) {
  try {
    tokenizer.encode(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Pathological, NormalizersMustNotBlowUpTheText) {
  const Tokenizer tokenizer = Tokenizer::from_json(
      R"({"model": )" + kBpe + ", " +
      normalizer("Replace", R"(, "pattern": {"String": "a"}, "content": ")" + std::string(100'000, 'b') + "\"") + "}");
  EXPECT_THAT(error_of(tokenizer, std::string(100'000, 'a')), testing::HasSubstr("longer than"));
  EXPECT_EQ(error_of(tokenizer, "aa"), "");
}

TEST(Pathological, OverflowingPairsMustNotMultiplyForEver) {
  const Tokenizer tokenizer = Tokenizer::from_json(
      R"({"model": )" + kBpe + R"(, "post_processor": {"type": "TemplateProcessing", "special_tokens": {},
          "single": [{"Sequence": {"id": "A", "type_id": 0}}],
          "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}},
                   {"Sequence": {"id": "A", "type_id": 0}}]}})");
  const std::string text(2000, 'a');
  EncodeOptions options;
  options.truncation = Truncation{.max_length = 6};
  try {
    tokenizer.encode(text, text, options);
    FAIL() << "a thousand million pieces";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kResourceExhausted);
    EXPECT_THAT(error.what(), testing::HasSubstr("overflow"));
  }
  options.overflowing = false;
  EXPECT_EQ(tokenizer.encode(text, text, options).size(), 9u);
}

TEST(Pathological, WhitespaceTokensMustNotCoverWhitespaceForEver) {
  const Tokenizer tokenizer = Tokenizer::from_json(
      R"({"model": )" + kBpe +
      R"(, "added_tokens": [{"id": 9, "content": " ", "single_word": false, "lstrip": false, "rstrip": true,
                             "normalized": false, "special": false}]})");
  EXPECT_THAT(error_of(tokenizer, std::string(4'000'000, ' ')), testing::HasSubstr("again and again"));
  // As the reference has it: each takes all that follows.
  EXPECT_EQ(tokenizer.encode("   ").offsets[1], (Offset{1, 3}));
}

TEST(Pathological, ErrorsNameTheByteThatIsNotUtf8) {
  const Tokenizer tokenizer = Tokenizer::from_json(R"({"model": )" + kBpe + "}");
  EXPECT_THAT(error_of(tokenizer, "ab\xFF"), testing::HasSubstr("byte 2 (0xff)"));
  EXPECT_THAT(error_of(tokenizer, "\xE4\xB8\xAD\xE4\xB8"), testing::HasSubstr("byte 3 (0xe4)"));
  EXPECT_THAT(error_of(tokenizer, repeated("a", 100'000) + "\xED\xA0\x80"), testing::HasSubstr("byte 100000 (0xed)"));
}

}  // namespace
}  // namespace sardonyx::text
