#include "text/tokenizer/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <thread>
#include <vector>

#include "sardonyx/error.h"

namespace sardonyx::text {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A whole tokenizer.json around a model and, where given, other parts.
std::string file_with(const std::string& model, const std::string& parts = "") {
  return R"({"version": "1.0", "model": )" + model + (parts.empty() ? "" : ", " + parts) + "}";
}

const char kBertModel[] =
    R"({"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 20,
        "vocab": {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "un": 3, "##aff": 4, "##able": 5, ",": 6, "hello": 7, "caf": 8, "##e": 9}})";

const char kBertParts[] =
    R"("normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null,
                      "lowercase": true},
       "pre_tokenizer": {"type": "BertPreTokenizer"},
       "post_processor": {"type": "TemplateProcessing",
         "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
                    {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
         "pair": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
                  {"SpecialToken": {"id": "[SEP]", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}},
                  {"SpecialToken": {"id": "[SEP]", "type_id": 1}}],
         "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [1], "tokens": ["[CLS]"]},
                            "[SEP]": {"id": "[SEP]", "ids": [2], "tokens": ["[SEP]"]}}},
       "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true})";

Tokenizer bert() { return Tokenizer::from_json(file_with(kBertModel, kBertParts)); }

std::string error_of(const std::string& json) {
  try {
    Tokenizer::from_json(json);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Tokenizer, EncodesAWord) {
  const Encoding encoding = bert().encode("Unaffable, CAFÉ");
  EXPECT_THAT(encoding.tokens, ElementsAre("[CLS]", "un", "##aff", "##able", ",", "caf", "##e", "[SEP]"));
  EXPECT_THAT(encoding.ids, ElementsAre(1, 3, 4, 5, 6, 8, 9, 2));
  EXPECT_EQ(encoding.offsets[6], (Offset{14, 15}));
  EXPECT_EQ(encoding.byte_offsets[6], (Offset{14, 16}));
  EXPECT_THAT(encoding.word_ids, ElementsAre(-1, 0, 0, 0, 1, 2, 2, -1));
  EXPECT_THAT(encoding.special_tokens_mask, ElementsAre(1, 0, 0, 0, 0, 0, 0, 1));
}

TEST(Tokenizer, EncodesAPair) {
  const Encoding encoding = bert().encode("hello", "un");
  EXPECT_THAT(encoding.type_ids, ElementsAre(0, 0, 0, 1, 1));
  EXPECT_THAT(encoding.sequence_ids(), ElementsAre(-1, 0, -1, 1, -1));
}

TEST(Tokenizer, WordsKeepTheirNumbersWhenSplitBefore) {
  const std::vector<std::string_view> words = {"hello", "unaffable"};
  EXPECT_THAT(bert().encode(TextInput(words)).word_ids, ElementsAre(-1, 0, 1, 1, 1, -1));
}

TEST(Tokenizer, TruncatesAndKeepsTheRest) {
  EncodeOptions options;
  options.truncation = Truncation{.max_length = 4, .stride = 1};
  const Encoding encoding = bert().encode("unaffable hello", options);
  EXPECT_THAT(encoding.ids, ElementsAre(1, 3, 4, 2));
  ASSERT_EQ(encoding.overflowing.size(), 2u);
  EXPECT_THAT(encoding.overflowing[0].ids, ElementsAre(1, 4, 5, 2));
  EXPECT_THAT(encoding.overflowing[1].ids, ElementsAre(1, 5, 7, 2));
  options.overflowing = false;
  EXPECT_EQ(bert().encode("unaffable hello", options).ids, encoding.ids);
}

TEST(Tokenizer, PadsABatchToItsLongest) {
  EncodeOptions options;
  options.padding = Padding{.direction = Direction::kLeft, .pad_id = 9};
  const std::vector<EncodeInput> inputs = {"hello", "unaffable"};
  const std::vector<Encoding> batch = bert().encode_batch(inputs, options);
  EXPECT_THAT(batch[0].ids, ElementsAre(9, 9, 1, 7, 2));
  EXPECT_THAT(batch[0].attention_mask, ElementsAre(0, 0, 1, 1, 1));
}

TEST(Tokenizer, LeavesOutTokenStringsWhenAsked) {
  EncodeOptions options;
  options.tokens = false;
  const Encoding encoding = bert().encode("hello", options);
  EXPECT_TRUE(encoding.tokens.empty());
  EXPECT_EQ(encoding.size(), 3u);
}

TEST(Tokenizer, Decodes) {
  const std::vector<std::uint32_t> ids = {3, 4, 5, 6, 7, 999};
  EXPECT_EQ(bert().decode(ids), "unaffable, hello");
}

TEST(Tokenizer, RefusesWhatIsNotUtf8) {
  for (const std::string text : {"\xFF", "a\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82"}) {
    EXPECT_THROW(bert().encode(text), Error) << testing::PrintToString(text);
  }
}

TEST(Tokenizer, NamesWhatIsBrokenInItsFile) {
  EXPECT_THAT(error_of("{"), HasSubstr("not valid JSON"));
  EXPECT_THAT(error_of("{}"), HasSubstr("model"));
  EXPECT_THAT(error_of(file_with(R"({"type": "Quantum", "vocab": {}})")), HasSubstr("'Quantum' is unknown"));
  EXPECT_THAT(error_of(file_with(kBertModel, R"("normalizer": {"type": "Upper"})")), HasSubstr("'Upper' is unknown"));
  EXPECT_THAT(error_of(file_with(kBertModel, R"("pre_tokenizer": {"type": "Split", "pattern": {"Regex": "("},
                                                "behavior": "Isolated", "invert": false})")),
              HasSubstr("'(' is broken"));
  EXPECT_THAT(error_of(file_with(R"({"type": "BPE", "vocab": {"a": 0}, "merges": ["a b"]})")), HasSubstr("'b'"));
  EXPECT_THAT(error_of(file_with(R"({"type": "WordLevel", "unk_token": "u", "vocab": {"a": 4000000000}})")),
              HasSubstr("4000000000"));
}

TEST(Tokenizer, DroppedCharactersMoveAllThatFollowThem) {
  // Without an unknown token BPE drops what it does not know, and places tokens as if it had not been there.
  const Tokenizer tokenizer = Tokenizer::from_json(
      file_with(R"({"type": "BPE", "vocab": {"a": 0, "\u2581": 1, "\u2581a": 2}, "merges": ["\u2581 a"]})"));
  const Encoding encoding = tokenizer.encode("xxa\u2581a");
  EXPECT_THAT(encoding.ids, ElementsAre(0, 2));
  EXPECT_THAT(encoding.offsets, ElementsAre(Offset{0, 1}, Offset{1, 4}));
}

TEST(Tokenizer, ACharacterMapMayBeEmpty) {
  const Tokenizer tokenizer = Tokenizer::from_json(
      file_with(kBertModel, R"("normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAAAA=="})"));
  EXPECT_THAT(tokenizer.encode("caf\xC3\xA9").ids, ElementsAre(0));
}

TEST(Tokenizer, StrideMustLeaveRoom) {
  Tokenizer tokenizer = bert();
  EXPECT_THROW(tokenizer.set_truncation(Truncation{.max_length = 4, .stride = 3}), Error);
  tokenizer.set_truncation(Truncation{.max_length = 3});
  EXPECT_EQ(tokenizer.encode("hello hello").size(), 3u);
}

TEST(Tokenizer, AddsTokensAtRunTime) {
  Tokenizer tokenizer = bert();
  const std::vector<AddedToken> tokens = {{.content = "<X>", .lstrip = true, .normalized = false, .special = true}};
  EXPECT_EQ(tokenizer.add_tokens(tokens), 1u);
  EXPECT_EQ(tokenizer.add_tokens(tokens), 0u);
  EXPECT_EQ(tokenizer.token_to_id("<X>"), 10u);
  EXPECT_THAT(tokenizer.encode("hello  <X>hello").tokens, ElementsAre("[CLS]", "hello", "  <X>", "hello", "[SEP]"));
  tokenizer.set_encode_special_tokens(true);
  EXPECT_THAT(tokenizer.encode("<X>").tokens, testing::Not(testing::Contains("<X>")));
}

/// One word of ten million bytes must be a matter of a second or two, whatever the model.
struct LongWord {
  const char* name;
  std::string model;
  const char* unit;
  std::size_t tokens;
};

class LongWords : public testing::TestWithParam<LongWord> {};

TEST_P(LongWords, TakeLinearTime) {
  const Tokenizer tokenizer = Tokenizer::from_json(file_with(GetParam().model));
  std::string text;
  while (text.size() < 10'000'000) text += GetParam().unit;
  EncodeOptions options;
  options.tokens = false;
  EXPECT_EQ(tokenizer.encode(text, options).size(), GetParam().tokens);
}

INSTANTIATE_TEST_SUITE_P(
    All, LongWords,
    testing::Values(
        LongWord{"wordpiece_unknown", kBertModel, "a", 1},
        LongWord{
            "wordpiece_without_limit",
            R"({"type": "WordPiece", "unk_token": "u", "continuing_subword_prefix": "", "max_input_chars_per_word": 4000000000,
                     "vocab": {"u": 0, "ab": 1, "abababab": 2}})",
            "abababab", 1'250'000},
        LongWord{"bpe_one_letter",
                 R"({"type": "BPE", "vocab": {"a": 0, "aa": 1, "aaaa": 2, "aaaaaaaa": 3},
                     "merges": ["a a", "aa aa", "aaaa aaaa"]})",
                 "a", 1'250'000},
        LongWord{"bpe_unknown",
                 R"({"type": "BPE", "unk_token": "u", "fuse_unk": true, "vocab": {"u": 0}, "merges": []})", "\xC3\xA9",
                 1},
        LongWord{
            "unigram",
            R"({"type": "Unigram", "unk_id": 0, "vocab": [["u", 0.0], ["a", -1.0], ["aa", -1.5], ["aaaa", -2.0]]})",
            "a", 2'500'000},
        LongWord{"unigram_unknown", R"({"type": "Unigram", "unk_id": 0, "vocab": [["u", 0.0]]})", "\xC3\xA9", 1}),
    [](const auto& info) { return info.param.name; });

TEST(Tokenizer, IsSafeFromManyThreads) {
  const Tokenizer tokenizer = bert();
  const Encoding expected = tokenizer.encode("unaffable, hello");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 200; ++k) EXPECT_EQ(tokenizer.encode("unaffable, hello").ids, expected.ids);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace sardonyx::text
