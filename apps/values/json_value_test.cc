#include "apps/values/json_value.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>

#include "apps/values/compare.h"
#include "apps/values/parse_json.h"
#include "apps/values/random_value.h"

namespace sardonyx::values {
namespace {

PortInfo port(ElementType type, std::string kind = "tensor") {
  PortInfo info;
  info.name = "x";
  info.kind = std::move(kind);
  info.element_type = type;
  return info;
}

TEST(JsonValue, EveryTypeSurvives) {
  for (int number = 1; number < kElementTypeCount; ++number) {
    const auto type = static_cast<ElementType>(number);
    for (const Shape& shape : {Shape{}, Shape{0, 2}, Shape{3}, Shape{2, 3}}) {
      const Value value = random_tensor("x", type, shape, 1);
      const auto text = to_json(value).dump();
      EXPECT_EQ(difference(value, from_json(parse_json(text, "x"), port(ElementType::kFloat32), "x"), {0, 0}), "")
          << name(type) << text;
    }
  }
}

TEST(JsonValue, NumbersThatJsonLacks) {
  const double values[] = {std::nan(""), std::numeric_limits<double>::infinity(),
                           -std::numeric_limits<double>::infinity()};
  const Value value = Tensor::from<double>({3}, values);
  EXPECT_EQ(difference(value, from_json(to_json(value), port(ElementType::kFloat32), "x"), {}), "");
}

TEST(JsonValue, FloatsHaveTheirOwnDigits) {
  EXPECT_EQ(to_json(Tensor::scalar(0.1f))["data"].dump(), "[0.1]");
  for (const float value : {0.1f, 1e-45f, 3.4028235e38f, -1.0f / 3, 0.0f, 16777217.0f}) {
    EXPECT_EQ(static_cast<float>(short_double(value)), value);
  }
}

TEST(JsonValue, WideIntegersAreExact) {
  const std::int64_t values[] = {INT64_MAX, INT64_MIN, (1ll << 53) + 1};
  const Value value = Tensor::from<std::int64_t>({3}, values);
  EXPECT_EQ(difference(value, from_json(parse_json(to_json(value).dump(), "x"), port(ElementType::kInt64), "x"), {}),
            "");
}

TEST(JsonValue, SequencesMapsAndNothing) {
  const Value sequence =
      Sequence{ElementType::kInt64, {Tensor::scalar<std::int64_t>(1), Tensor::scalar<std::int64_t>(2)}};
  EXPECT_EQ(difference(sequence, from_json(to_json(sequence), port(ElementType::kInt64, "sequence"), "x"), {}), "");
  const std::string keys[] = {"a", "b"};
  const Value map = Map{Tensor::from<std::string>({2}, keys), {Tensor::scalar(1.0f), Tensor::scalar(2.0f)}};
  EXPECT_EQ(difference(map, from_json(to_json(map), port(ElementType::kFloat32, "map"), "x"), {}), "");
  EXPECT_TRUE(from_json(nullptr, port(ElementType::kFloat32, "optional"), "x").is_none());
}

TEST(JsonValue, PlainListsTakeTheModelsType) {
  const Value value = from_json(parse_json("[[1, 2, 3], [4, 5, 6]]", "x"), port(ElementType::kInt64), "x");
  EXPECT_EQ(value.tensor().type(), ElementType::kInt64);
  EXPECT_EQ(value.tensor().shape(), (Shape{2, 3}));
  EXPECT_EQ(value.tensor().data<std::int64_t>()[4], 5);
  EXPECT_EQ(from_json(parse_json("2.5", "x"), port(ElementType::kFloat16), "x").tensor().shape(), Shape{});
  EXPECT_EQ(from_json(parse_json("[\"a\"]", "x"), port(ElementType::kString), "x").tensor().data<std::string>()[0],
            "a");
}

TEST(JsonValue, FaultsAreErrors) {
  const char* const cases[] = {"[[1, 2], [3]]",
                               "[[1], 2]",
                               "[1.5]",
                               "[300]",
                               "[-1]",
                               "[\"a\"]",
                               "[null]",
                               "{}",
                               R"({"type": "int8", "shape": [2], "data": [1]})",
                               R"({"type": "int9", "shape": [1], "data": [1]})",
                               R"({"type": "int8", "shape": [-1], "data": []})",
                               R"({"type": "int8", "shape": 1, "data": [1]})",
                               R"({"map": 1})",
                               R"({"map": [[1]]})",
                               R"({"map": [["a", 1], [2, 1]]})"};
  for (const char* text : cases) {
    EXPECT_THROW(from_json(parse_json(text, "x"), port(ElementType::kUInt8), "x"), Error) << text;
  }
}

TEST(ParseJson, DepthAndSyntax) {
  EXPECT_NO_THROW(parse_json(std::string(64, '[') + std::string(64, ']'), "x"));
  EXPECT_THROW(parse_json(std::string(65, '[') + std::string(65, ']'), "x"), Error);
  EXPECT_THROW(parse_json(std::string(1000000, '['), "x"), Error);
  EXPECT_NO_THROW(parse_json("[\"[[[[\\\"[[[[\"]", "x", 1));
  for (const char* text : {"", "{", "[1,]", "nul", "\"\xff\"", "{\"a\":1}x"})
    EXPECT_THROW(parse_json(text, "x"), Error) << text;
}

}  // namespace
}  // namespace sardonyx::values
