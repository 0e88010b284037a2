#include "provider/cpu/ops/string.h"

#include "provider/cpu/ops/exact_test_util.h"

namespace sardonyx::provider::cpu {
namespace {

struct SplitCase {
  const char* text;
  const char* delimiter;
  std::int64_t max_split;
  std::vector<std::string> expected;
};

TEST(StringSplit, AsPythonSplits) {
  const SplitCase cases[] = {
      {"a,b,,c", ",", -1, {"a", "b", "", "c"}},
      {"a,b,,c", ",", 2, {"a", "b", ",c"}},
      {"", ",", -1, {""}},
      {"a--b", "--", -1, {"a", "b"}},
      {"  a  b c ", "", -1, {"a", "b", "c"}},
      {"  a  b c ", "", 1, {"a", "b c "}},
      {" \t\n", "", -1, {}},
      {"a\xc2\xa0"
       "b\xe3\x80\x80"
       "c\xc2\x85"
       "d",
       "",
       -1,
       {"a", "b", "c", "d"}},
      {"\xe6\x97\xa5\xe6\x9c\xac", "", -1, {"\xe6\x97\xa5\xe6\x9c\xac"}},
      {"x\xe2\x80", "", -1, {"x\xe2\x80"}},
  };
  for (const SplitCase& c : cases) {
    const auto out =
        run_op("StringSplit", attributes({{"delimiter", std::string(c.delimiter)}, {"maxsplit", c.max_split}}),
               {strings({1}, {c.text})}, 2);
    const auto count = static_cast<std::int64_t>(c.expected.size());
    expect_equal(out[0], strings({1, count}, c.expected), c.text);
    expect_equal(out[1], int_vector({count}), c.text);
  }
}

TEST(StringSplit, FillsShortRows) {
  const auto out = run_op("StringSplit", {}, {strings({2}, {"a b", "c"})}, 2);
  expect_equal(out[0], strings({2, 2}, {"a", "b", "c", ""}));
  expect_equal(out[1], int_vector({2, 1}));
  expect_equal(run_op("StringSplit", {}, {strings({0}, {})}, 2)[0], strings({0, 0}, {}));
}

TEST(StringConcat, Broadcasts) {
  expect_equal(run_op("StringConcat", {}, {strings({2, 1}, {"a", "b"}), strings({2}, {"x", "y"})})[0],
               strings({2, 2}, {"ax", "ay", "bx", "by"}));
  expect_equal(run_op("StringConcat", {}, {strings({}, {"a"}), strings({0}, {})})[0], strings({0}, {}));
}

TEST(StringNormalizer, StopWordsAndCase) {
  const auto normalize = [](std::vector<std::string> words, const char* action, std::int64_t sensitive,
                            std::vector<std::string> stop) {
    const Shape shape{static_cast<std::int64_t>(words.size())};
    return run_op("StringNormalizer",
                  attributes({{"case_change_action", std::string(action)},
                              {"is_case_sensitive", sensitive},
                              {"stopwords", std::move(stop)}}),
                  {strings(shape, words)})[0];
  };
  expect_equal(normalize({"Monday", "tuesday"}, "UPPER", 1, {"monday"}), strings({2}, {"MONDAY", "TUESDAY"}));
  expect_equal(normalize({"Monday", "tuesday"}, "UPPER", 0, {"monday"}), strings({1}, {"TUESDAY"}));
  expect_equal(normalize({"a"}, "NONE", 1, {"a"}), strings({1}, {""}));
  // Two, three and four bytes of UTF-8, and a byte that is none.
  expect_equal(normalize({"\xc3\x89\xff", "\xe1\xba\x9e", "\xf0\x90\x90\x80"}, "LOWER", 1, {}),
               strings({3}, {"\xc3\xa9\xff", "\xc3\x9f", "\xf0\x90\x90\xa8"}));
  expect_equal(normalize({"\xd0\xb6"}, "UPPER", 1, {}), strings({1}, {"\xd0\x96"}));
  expect_equal(run_op("StringNormalizer", {}, {strings({1, 2}, {"x", "y"})})[0], strings({1, 2}, {"x", "y"}));
  expect_error([] { run_op("StringNormalizer", {}, {strings({2, 1}, {"x", "y"})}); }, "first dimension");
  expect_error(
      [] {
        run_op("StringNormalizer", attributes({{"case_change_action", std::string("TITLE")}}), {strings({1}, {"x"})});
      },
      "TITLE");
}

TEST(RegexFullMatch, WholeStringsOnly) {
  const auto out = run_op("RegexFullMatch",
                          attributes({{"pattern", std::string(R"((\W|^)[\w.\-]{0,25}@(yahoo|gmail)\.com(\W|$))")}}),
                          {strings({3}, {"account@gmail.com", "account@hotmail.com", "not email"})});
  const bool* found = out[0].tensor().data<bool>();
  EXPECT_TRUE(found[0]);
  EXPECT_FALSE(found[1]);
  EXPECT_FALSE(found[2]);
  expect_error(
      [] { run_op("RegexFullMatch", attributes({{"pattern", std::string("(?<!a)b")}}), {strings({1}, {"b"})}); },
      "RE2");
  expect_error([] { run_op("RegexFullMatch", attributes({{"pattern", std::string("(")}}), {strings({1}, {"b"})}); },
               "RE2");
}

TEST(Tokenizer, SeparatorsExpressionsAndCharacters) {
  const auto tokenize = [](std::vector<std::string> text, std::vector<std::string> separators, const char* expression,
                           std::int64_t mark, std::int64_t shortest) {
    const Shape shape{static_cast<std::int64_t>(text.size())};
    return run_op("Tokenizer",
                  attributes({{"separators", std::move(separators)},
                              {"tokenexp", std::string(expression)},
                              {"mark", mark},
                              {"mincharnum", shortest},
                              {"pad_value", std::string("#")}}),
                  {strings(shape, text)}, 1, "com.microsoft")[0];
  };
  expect_equal(tokenize({"a;b,,c", "d"}, {";", ","}, "", 0, 1), strings({2, 3}, {"a", "b", "c", "d", "#", "#"}));
  expect_equal(tokenize({"ab c"}, {" +"}, "", 1, 2), strings({1, 3}, {"\x02", "ab", "\x03"}));
  expect_equal(tokenize({"a\xc3\xa9"}, {""}, "", 0, 1), strings({1, 2}, {"a", "\xc3\xa9"}));
  expect_equal(tokenize({"a1 bc22"}, {}, "[a-z]+|[0-9]+", 0, 1), strings({1, 4}, {"a", "1", "bc", "22"}));
  expect_equal(tokenize({""}, {","}, "", 0, 1), strings({1, 0}, {}));
  expect_error([&] { tokenize({"a"}, {","}, "b", 0, 1); }, "either");
  expect_error([&] { tokenize({"a"}, {"("}, "", 0, 1); }, "RE2");
}

graph::Attributes tf_idf(const char* mode, std::int64_t min, std::int64_t max, std::int64_t skips) {
  return attributes({{"mode", std::string(mode)},
                     {"min_gram_length", min},
                     {"max_gram_length", max},
                     {"max_skip_count", skips},
                     {"ngram_counts", std::vector<std::int64_t>{0, 2}},
                     {"ngram_indexes", std::vector<std::int64_t>{0, 1, 2}},
                     {"pool_strings", std::vector<std::string>{"a", "b", "a", "b"}},
                     {"weights", std::vector<float>{2, 3, 5}}});
}

TEST(TfIdf, ModesAndSkips) {
  const Value x = strings({5}, {"a", "b", "z", "a", "b"});
  expect_equal(run_op("TfIdfVectorizer", tf_idf("TF", 1, 2, 0), {x})[0], floats({3}, {2, 2, 2}));
  expect_equal(run_op("TfIdfVectorizer", tf_idf("TF", 2, 2, 0), {x})[0], floats({3}, {0, 0, 2}));
  expect_equal(run_op("TfIdfVectorizer", tf_idf("TF", 1, 2, 4), {x})[0], floats({3}, {2, 2, 3}));
  expect_equal(run_op("TfIdfVectorizer", tf_idf("IDF", 1, 2, 0), {x})[0], floats({3}, {2, 3, 5}));
  expect_equal(run_op("TfIdfVectorizer", tf_idf("TFIDF", 1, 2, 0), {x})[0], floats({3}, {4, 6, 10}));
  expect_equal(run_op("TfIdfVectorizer", tf_idf("TF", 1, 2, 0), {strings({2, 1}, {"a", "z"})})[0],
               floats({2, 3}, {1, 0, 0, 0, 0, 0}));
  expect_error([&] { run_op("TfIdfVectorizer", tf_idf("TF", 1, 2, 0), {int_vector({1})}); }, "both hold strings");
  expect_error([&] { run_op("TfIdfVectorizer", tf_idf("BM25", 1, 2, 0), {x}); }, "BM25");
}

}  // namespace
}  // namespace sardonyx::provider::cpu
