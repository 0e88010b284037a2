#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "provider/cpu/cpu_provider.h"
#include "provider/evaluate.h"

namespace sardonyx::provider::cpu {
namespace {

TEST(Relu, KeepsNaNAndDropsNegatives) {
  const CpuProvider cpu;
  const float values[] = {-1, 0, 2, std::numeric_limits<float>::quiet_NaN()};
  const Value inputs[] = {Tensor::from<float>({4}, values)};
  const std::vector<Value> outputs = evaluate_node(cpu, "", "Relu", {}, inputs, 1);
  const auto y = outputs[0].tensor().span<float>();
  EXPECT_EQ(y[0], 0);
  EXPECT_EQ(y[1], 0);
  EXPECT_EQ(y[2], 2);
  EXPECT_TRUE(std::isnan(y[3]));
}

}  // namespace
}  // namespace sardonyx::provider::cpu
