#include "apps/values/convert.h"

#include <cmath>
#include <gtest/gtest.h>

#include "sardonyx/error.h"

#include "apps/values/elements.h"

namespace sardonyx::values {
namespace {

struct Case {
  double value;
  ElementType from, to;
  bool fits;
};

TEST(Convert, OnlyWhatSurvives) {
  const Case cases[] = {
      {1.5, ElementType::kFloat32, ElementType::kBFloat16, true},
      {0.1, ElementType::kFloat32, ElementType::kFloat16, true},
      {7, ElementType::kInt8, ElementType::kInt4, true},
      {8, ElementType::kInt8, ElementType::kInt4, false},
      {-8, ElementType::kInt8, ElementType::kInt4, true},
      {-1, ElementType::kInt64, ElementType::kUInt8, false},
      {255, ElementType::kInt64, ElementType::kUInt8, true},
      {256, ElementType::kInt64, ElementType::kUInt8, false},
      {1.5, ElementType::kFloat32, ElementType::kInt64, false},
      {2, ElementType::kFloat32, ElementType::kInt64, true},
      {2, ElementType::kInt64, ElementType::kBool, false},
      {1, ElementType::kInt64, ElementType::kBool, true},
      {16777217, ElementType::kInt32, ElementType::kFloat32, false},
  };
  for (const Case& test : cases) {
    Tensor tensor(test.from, {1});
    set_element(tensor.view(), 0, test.value);
    if (!test.fits) {
      EXPECT_THROW(convert(tensor, test.to), Error) << test.value << " " << name(test.to);
      continue;
    }
    const double got = get_element(convert(tensor, test.to).view(), 0);
    EXPECT_NEAR(got, test.value, std::abs(test.value) * 1e-3) << name(test.to);
  }
}

TEST(Convert, StringsAreNot) {
  EXPECT_THROW(convert(Tensor::scalar<std::string>("1"), ElementType::kInt64), Error);
  EXPECT_THROW(convert(Tensor::scalar(1.0f), ElementType::kComplex64), Error);
}

}  // namespace
}  // namespace sardonyx::values
