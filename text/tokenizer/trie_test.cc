#include "text/tokenizer/trie.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace sardonyx::text {
namespace {

Trie trie_of(const std::vector<Trie::Entry>& entries, std::string_view start = {}) { return Trie(entries, start); }

TEST(Trie, EmptyFindsNothing) {
  const Trie trie;
  EXPECT_TRUE(trie.empty());
  EXPECT_EQ(trie.find("a"), Trie::kNone);
  EXPECT_EQ(trie.longest_prefix("abc").value, Trie::kNone);
}

TEST(Trie, LastOfEqualKeysCounts) {
  const Trie trie = trie_of({{"a", 1}, {"ab", 2}, {"a", 3}});
  EXPECT_EQ(trie.size(), 2u);
  EXPECT_EQ(trie.find("a"), 3u);
}

TEST(Trie, LongestPrefixMayPassOverShorterOnes) {
  const Trie trie = trie_of({{"un", 1}, {"unaff", 2}, {"unaffable!", 3}});
  const Trie::Match match = trie.longest_prefix("unaffable");
  EXPECT_EQ(match.length, 5u);
  EXPECT_EQ(match.value, 2u);
}

TEST(Trie, KeysMayHoldAnyByte) {
  const std::string zero("\0\xFF\0", 3);
  const Trie trie = trie_of({{zero, 7}, {std::string_view(zero).substr(0, 1), 8}});
  EXPECT_EQ(trie.find(zero), 7u);
  EXPECT_EQ(trie.longest_prefix(std::string_view(zero).substr(0, 2)).value, 8u);
  EXPECT_EQ(trie.find(std::string_view(zero).substr(1)), Trie::kNone);
}

TEST(Trie, VisitsPrefixesTheShortestFirst) {
  // So many keys that there are nodes as well as lists.
  std::vector<std::string> keys;
  for (int i = 0; i < 100; ++i) keys.push_back("n" + std::to_string(i));
  for (const char* key : {"", "a", "ab", "abcd", "abcde", "b", "abx"}) keys.emplace_back(key);
  std::vector<Trie::Entry> entries;
  for (const std::string& key : keys) entries.emplace_back(key, static_cast<std::uint32_t>(key.size()));
  for (const std::size_t first : {std::size_t{0}, std::size_t{100}}) {
    const Trie trie{std::span(entries).subspan(first)};
    std::vector<std::size_t> lengths;
    trie.for_each_prefix("abcdefg", [&](std::size_t length, std::uint32_t value) {
      lengths.push_back(length);
      EXPECT_EQ(value, length);
    });
    EXPECT_THAT(lengths, testing::ElementsAre(1, 2, 4, 5));
    EXPECT_EQ(trie.find(""), 0u);
  }
}

TEST(Trie, SearchesBelowAStart) {
  const Trie trie = trie_of({{"##", 1}, {"##a", 2}, {"##abc", 3}, {"abc", 4}, {"#", 5}}, "##");
  const std::uint32_t node = trie.node_at("##");
  ASSERT_NE(node, Trie::kNone);
  EXPECT_EQ(trie.longest_prefix("abcd", node).value, 3u);
  EXPECT_EQ(trie.longest_prefix("abd", node).value, 2u);
  EXPECT_EQ(trie.longest_prefix("bcd", node).value, Trie::kNone);
  EXPECT_EQ(trie.find("##"), 1u);
  EXPECT_EQ(trie.find("abc"), 4u);
  EXPECT_EQ(trie_of({{"abc", 4}, {"#", 5}}, "##").node_at("##"), Trie::kNone);
  EXPECT_EQ(trie_of({{"##", 4}}, "##").longest_prefix("abc", trie_of({{"##", 4}}, "##").node_at("##")).value,
            Trie::kNone);
  EXPECT_EQ(trie_of({{"abc", 4}}).node_at(""), Trie::kRoot);
}

TEST(Trie, AgreesWithAMapOnRandomKeys) {
  std::mt19937 random(1);
  std::map<std::string, std::uint32_t> expected;
  std::vector<std::string> keys;
  for (std::uint32_t i = 0; i < 20000; ++i) {
    // Some share long beginnings, some are there twice.
    std::string key = i % 8 == 0 ? std::string(random() % 40, 'x') : std::string();
    for (std::size_t k = random() % 9; k-- > 0;) key += static_cast<char>(random() % (i % 2 ? 256 : 4));
    expected[key] = i;
    keys.push_back(std::move(key));
  }
  std::vector<Trie::Entry> entries;
  for (std::uint32_t i = 0; i < keys.size(); ++i) entries.emplace_back(keys[i], i);
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
