#include "text/tokenizer/trie.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace sardonyx::text {
namespace {

TEST(Trie, EmptyFindsNothing) {
  const Trie trie;
  EXPECT_TRUE(trie.empty());
  EXPECT_EQ(trie.find("a"), Trie::kNone);
  EXPECT_EQ(trie.longest_prefix("abc").value, Trie::kNone);
}

TEST(Trie, LastOfEqualKeysCounts) {
  const Trie trie({{"a", 1}, {"ab", 2}, {"a", 3}});
  EXPECT_EQ(trie.size(), 2u);
  EXPECT_EQ(trie.find("a"), 3u);
}

TEST(Trie, LongestPrefixMayPassOverShorterOnes) {
  const Trie trie({{"un", 1}, {"unaff", 2}, {"unaffable!", 3}});
  const Trie::Match match = trie.longest_prefix("unaffable");
  EXPECT_EQ(match.length, 5u);
  EXPECT_EQ(match.value, 2u);
}

TEST(Trie, KeysMayHoldAnyByte) {
  const std::string zero("\0\xFF\0", 3);
  const Trie trie({{zero, 7}, {std::string_view(zero).substr(0, 1), 8}});
  EXPECT_EQ(trie.find(zero), 7u);
  EXPECT_EQ(trie.longest_prefix(std::string_view(zero).substr(0, 2)).value, 8u);
  EXPECT_EQ(trie.find(std::string_view(zero).substr(1)), Trie::kNone);
}

TEST(Trie, AgreesWithAMapOnRandomKeys) {
  std::mt19937 random(1);
  std::map<std::string, std::uint32_t> expected;
  for (std::uint32_t i = 0; i < 20000; ++i) {
    std::string key(random() % 9, '\0');
    for (char& c : key) c = static_cast<char>(random() % (i % 2 ? 256 : 4));
    expected[key] = i;
  }
  std::vector<Trie::Entry> entries(expected.begin(), expected.end());
  std::shuffle(entries.begin(), entries.end(), random);
  const Trie trie(entries);
  EXPECT_EQ(trie.size(), expected.size());
  for (const auto& [key, value] : expected) ASSERT_EQ(trie.find(key), value);
  for (int i = 0; i < 20000; ++i) {
    std::string key(random() % 9, '\0');
    for (char& c : key) c = static_cast<char>(random() % (i % 2 ? 256 : 4));
    const auto found = expected.find(key);
    ASSERT_EQ(trie.find(key), found == expected.end() ? Trie::kNone : found->second);
  }
}

}  // namespace
}  // namespace sardonyx::text
