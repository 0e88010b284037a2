#include "text/pipeline/token_inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sardonyx::pipeline {
namespace {

using testing::ElementsAre;

PortInfo port(std::string name, std::vector<std::int64_t> fixed = {-1, -1}, ElementType type = ElementType::kInt64) {
  PortInfo info;
  info.name = std::move(name);
  info.element_type = type;
  info.has_rank = true;
  info.fixed = std::move(fixed);
  return info;
}

text::Encoding encoding(std::vector<std::uint32_t> ids, std::vector<std::uint32_t> type_ids) {
  text::Encoding out;
  out.ids = std::move(ids);
  out.type_ids = std::move(type_ids);
  return out;
}

template <typename T>
std::vector<T> list(const Value& value) {
  return {value.tensor().span<T>().begin(), value.tensor().span<T>().end()};
}

TEST(TokenInputs, WhatTheModelAsksFor) {
  const TokenInputs inputs({port("attention_mask"), port("input_ids", {-1, -1}, ElementType::kInt32),
                            port("token_type_ids"), port("position_ids")},
                           0);
  const text::Encoding a = encoding({5, 6}, {0, 1}), b = encoding({7, 8}, {0, 0});
  const text::Encoding* const both[] = {&a, &b};
  const NamedValues values = inputs.make(both);
  ASSERT_EQ(values.size(), 4u);
  EXPECT_EQ(values[0].first, "attention_mask");
  EXPECT_EQ(values[0].second.tensor().shape(), (Shape{2, 2}));
  EXPECT_THAT(list<std::int64_t>(values[0].second), ElementsAre(1, 1, 1, 1));
  EXPECT_THAT(list<std::int32_t>(values[1].second), ElementsAre(5, 6, 7, 8));
  EXPECT_THAT(list<std::int64_t>(values[2].second), ElementsAre(0, 1, 0, 0));
  EXPECT_THAT(list<std::int64_t>(values[3].second), ElementsAre(0, 1, 0, 1));
}

TEST(TokenInputs, FixedSizesAreFilled) {
  const TokenInputs inputs({port("input_ids", {2, 4}), port("attention_mask", {2, 4})}, 9);
  EXPECT_EQ(inputs.most_texts(), 2u);
  EXPECT_EQ(inputs.fixed_length(), 4u);
  const text::Encoding a = encoding({5, 6}, {0, 0});
  const text::Encoding* const one[] = {&a};
  const NamedValues values = inputs.make(one);
  EXPECT_THAT(list<std::int64_t>(values[0].second), ElementsAre(5, 6, 9, 9, 5, 6, 9, 9));
  EXPECT_THAT(list<std::int64_t>(values[1].second), ElementsAre(1, 1, 0, 0, 1, 1, 0, 0));
}

TEST(TokenInputs, OtherModelsAreRefused) {
  const auto make = [](std::vector<PortInfo> ports) { return TokenInputs(ports, 0); };
  EXPECT_THROW(make({port("pixel_values")}), Error);
  EXPECT_THROW(make({port("attention_mask")}), Error);
  EXPECT_THROW(make({port("input_ids"), port("images")}), Error);
  EXPECT_THROW(make({port("input_ids", {-1, -1, -1})}), Error);
  EXPECT_THROW(make({port("input_ids", {-1, -1}, ElementType::kFloat32)}), Error);
  EXPECT_THROW(make({port("input_ids", {-1, 8})}), Error);
  PortInfo extra = port("weight");
  extra.has_default = true;
  EXPECT_NO_THROW(make({port("input_ids"), extra}));
}

}  // namespace
}  // namespace sardonyx::pipeline
