#include "apps/values/compare.h"

#include <gtest/gtest.h>
#include <limits>
#include <vector>

#include "base/numeric/numeric.h"

namespace sardonyx::values {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

template <typename T>
Value tensor(const std::vector<T>& values) {
  return Tensor::from<T>({static_cast<std::int64_t>(values.size())}, std::span<const T>(values));
}

TEST(Compare, FloatsWithinTolerance) {
  const Value expected = tensor<float>({1000.0f, 0.0f, kNaN, kInfinity});
  EXPECT_EQ(difference(expected, tensor<float>({1000.9f, 5e-8f, kNaN, kInfinity}), {}), "");
  EXPECT_NE(difference(expected, tensor<float>({1001.1f, 0.0f, kNaN, kInfinity}), {}), "");
  EXPECT_NE(difference(expected, tensor<float>({1000.0f, 2e-7f, kNaN, kInfinity}), {}), "");
  EXPECT_NE(difference(expected, tensor<float>({1000.0f, 0.0f, 1.0f, kInfinity}), {}), "");
  EXPECT_NE(difference(expected, tensor<float>({1000.0f, 0.0f, kNaN, -kInfinity}), {}), "");
  EXPECT_NE(difference(expected, tensor<float>({kNaN, 0.0f, kNaN, kInfinity}), {}), "");
  EXPECT_NE(difference(tensor<float>({kInfinity}), tensor<float>({1e30f}), {}), "");
}

TEST(Compare, ExactKinds) {
  EXPECT_NE(difference(tensor<std::int64_t>({1000000}), tensor<std::int64_t>({1000001}), {}), "");
  EXPECT_EQ(difference(tensor<std::string>({"a", ""}), tensor<std::string>({"a", ""}), {}), "");
  EXPECT_NE(difference(tensor<std::string>({"a"}), tensor<std::string>({"A"}), {}), "");
}

TEST(Compare, PackedTypesLookOnlyAtTheirElements) {
  std::uint8_t a[] = {0x21, 0x03}, b[] = {0x21, 0xf3}, c[] = {0x20, 0x03};
  const auto packed = [](std::uint8_t* data) { return Value(Tensor(ElementType::kInt4, {3}, data, nullptr)); };
  EXPECT_EQ(difference(packed(a), packed(b), {}), "");
  EXPECT_NE(difference(packed(a), packed(c), {}), "");
}

TEST(Compare, TypeShapeAndKind) {
  EXPECT_NE(difference(tensor<float>({1}), tensor<double>({1}), {}), "");
  EXPECT_NE(difference(tensor<float>({1}), Tensor::scalar(1.0f), {}), "");
  EXPECT_NE(difference(tensor<float>({1}), Value(), {}), "");
  EXPECT_EQ(difference(Value(), Value(), {}), "");
}

TEST(Compare, SequencesAndMaps) {
  const auto sequence = [](std::vector<Value> items) {
    return Value(Sequence{ElementType::kFloat32, std::move(items)});
  };
  EXPECT_EQ(difference(sequence({tensor<float>({1})}), sequence({tensor<float>({1})}), {}), "");
  EXPECT_NE(difference(sequence({tensor<float>({1})}), sequence({tensor<float>({2})}), {}), "");
  EXPECT_NE(difference(sequence({tensor<float>({1})}), sequence({}), {}), "");
  const auto map = [](std::int64_t key, float value) {
    return Value(Map{Tensor::from<std::int64_t>({1}, std::span(&key, 1)), {Tensor::scalar(value)}});
  };
  EXPECT_EQ(difference(map(1, 2), map(1, 2), {}), "");
  EXPECT_NE(difference(map(1, 2), map(3, 2), {}), "");
  EXPECT_NE(difference(map(1, 2), map(1, 4), {}), "");
}

}  // namespace
}  // namespace sardonyx::values
