#include <cmath>

#include "provider/cpu/ops/exact_test_util.h"

namespace sardonyx::provider::cpu {
namespace {

graph::Attributes reduction(const char* name) { return attributes({{"reduction", std::string(name)}}); }

TEST(NegativeLogLikelihood, ReductionsWeightsAndIgnored) {
  const Value x = floats({3, 2}, {-1, -2, -3, -4, -5, -6}), target = int_vector({0, 1, 0}),
              weights = floats({2}, {1, 3});
  expect_near(run_op("NegativeLogLikelihoodLoss", reduction("none"), {x, target})[0], {3}, {1, 4, 5}, 0);
  expect_near(run_op("NegativeLogLikelihoodLoss", reduction("sum"), {x, target, weights})[0], {}, {1 + 12 + 5}, 0);
  expect_near(run_op("NegativeLogLikelihoodLoss", reduction("mean"), {x, target, weights})[0], {}, {18.0F / 5}, 1e-6F);
  const auto ignoring = attributes({{"reduction", std::string("mean")}, {"ignore_index", std::int64_t{-1}}});
  expect_near(run_op("NegativeLogLikelihoodLoss", ignoring, {x, int_vector({0, -1, 0})})[0], {}, {3}, 0);
  expect_error([&] { run_op("NegativeLogLikelihoodLoss", {}, {x, int_vector({0, 2, 0})}); }, "target 2");
  expect_error([&] { run_op("NegativeLogLikelihoodLoss", reduction("median"), {x, target}); }, "median");
}

TEST(SoftmaxCrossEntropy, LargeScoresStayFinite) {
  const auto out =
      run_op("SoftmaxCrossEntropyLoss", reduction("none"), {floats({1, 2}, {1000, 0}), int_vector({1})}, 2);
  expect_near(out[0], {1}, {1000}, 0);
  expect_near(out[1], {1, 2}, {0, -1000}, 0);
  const auto even = run_op("SoftmaxCrossEntropyLoss", {}, {floats({1, 4, 1}, {2, 2, 2, 2}), ints({1, 1}, {3})});
  expect_near(even[0], {}, {std::log(4.0F)}, 1e-6F);
}

TEST(Optimizers, OneStep) {
  constexpr const char* kTraining = "ai.onnx.preview.training";
  const auto plain =
      attributes({{"mode", std::string("standard")}, {"alpha", 0.9F}, {"beta", 0.5F}, {"norm_coefficient", 0.0F}});
  const std::vector<Value> inputs{floats({}, {0.1F}), ints({}, {0}), floats({1}, {1}), floats({1}, {2}),
                                  floats({1}, {10})};
  const auto out = run_op("Momentum", plain, inputs, 2, kTraining);
  expect_near(out[1], {1}, {11}, 1e-6F);
  expect_near(out[0], {1}, {1 - 1.1F}, 1e-6F);
  expect_error([&] { run_op("Momentum", plain, {inputs[0], inputs[1], inputs[2]}, 2, kTraining); },
               "for each parameter");
}

}  // namespace
}  // namespace sardonyx::provider::cpu
