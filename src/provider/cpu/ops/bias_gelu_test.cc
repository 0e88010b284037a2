#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "provider/cpu/cpu_provider.h"
#include "provider/evaluate.h"
#include "sardonyx/error.h"

namespace sardonyx::provider::cpu {
namespace {

Tensor filled(const Shape& shape, float scale) {
  Tensor tensor(ElementType::kFloat32, shape);
  for (std::int64_t i = 0; i < shape.num_elements(); ++i) {
    tensor.mutable_data<float>()[i] = scale * static_cast<float>((i * 37) % 101 - 50);
  }
  return tensor;
}

Value bias_gelu(const Value& data, const Value& bias) {
  const CpuProvider cpu;
  const Value inputs[] = {data, bias};
  return evaluate_node(cpu, "com.microsoft", "BiasGelu", {}, inputs, 1)[0];
}

struct Case {
  const char* name;
  Shape shape;
};

class BiasGelu : public testing::TestWithParam<Case> {};

TEST_P(BiasGelu, IsGeluOfTheSum) {
  const Shape& shape = GetParam().shape;
  const std::int64_t width = shape[shape.rank() - 1];
  const Tensor data = filled(shape, 0.1f), bias = filled({width}, 0.05f);
  const Value out = bias_gelu(data, bias);
  ASSERT_EQ(out.tensor().shape(), shape);
  for (std::int64_t i = 0; i < shape.num_elements(); ++i) {
    const double x = data.data<float>()[i] + bias.data<float>()[i % width];
    EXPECT_NEAR(out.tensor().data<float>()[i], x * (1 + std::erf(x / std::sqrt(2.0))) / 2, 2e-6) << "element " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, BiasGelu,
                         testing::Values(Case{"nothing", {2, 0}}, Case{"one", {1}}, Case{"under_a_vector", {3, 15}},
                                         Case{"a_vector", {3, 16}}, Case{"over_a_vector", {2, 2, 17}},
                                         Case{"several_chunks", {70, 300}}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(BiasGelu, KeepsNaNAndInfinity) {
  const float data[] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                        -std::numeric_limits<float>::infinity()};
  const float bias[] = {1, 1, 1};
  const Value out = bias_gelu(Tensor::from<float>({3}, data), Tensor::from<float>({3}, bias));
  EXPECT_TRUE(std::isnan(out.tensor().data<float>()[0]));
  EXPECT_EQ(out.tensor().data<float>()[1], std::numeric_limits<float>::infinity());
}

TEST(BiasGelu, RefusesABiasOfAnotherLength) {
  EXPECT_THROW(bias_gelu(filled({2, 4}, 1), filled({3}, 1)), Error);
  EXPECT_THROW(bias_gelu(filled({2, 4}, 1), filled({1, 4}, 1)), Error);
}

}  // namespace
}  // namespace sardonyx::provider::cpu
