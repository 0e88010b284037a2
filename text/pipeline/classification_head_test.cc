#include "text/pipeline/classification_head.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>

#include "sardonyx/error.h"

namespace sardonyx::pipeline {
namespace {

using testing::ElementsAre;
using testing::FloatNear;
using Kind = ClassificationHead::Kind;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

ModelConfig config(std::vector<std::string> labels, std::optional<ProblemType> type = std::nullopt) {
  ModelConfig out;
  out.labels = std::move(labels);
  out.problem_type = type;
  return out;
}

std::vector<float> scores(const ClassificationHead& head, std::vector<float> logits) { return head.scores(logits); }

TEST(ClassificationHead, KindFollowsTheConfig) {
  EXPECT_EQ(ClassificationHead(config({}), 2).kind(), Kind::kSoftmax);
  EXPECT_EQ(ClassificationHead(config({}), 1).kind(), Kind::kSigmoid);
  EXPECT_EQ(ClassificationHead(config({"no", "yes"}), 1).kind(), Kind::kBinary);
  EXPECT_EQ(ClassificationHead(config({}, ProblemType::kSingleLabel), 1).kind(), Kind::kSigmoid);
  EXPECT_EQ(ClassificationHead(config({}, ProblemType::kMultiLabel), 3).kind(), Kind::kSigmoid);
  EXPECT_EQ(ClassificationHead(config({}, ProblemType::kRegression), 1).kind(), Kind::kRegression);
}

TEST(ClassificationHead, Labels) {
  EXPECT_THAT(ClassificationHead(config({}), 2).labels(), ElementsAre("LABEL_0", "LABEL_1"));
  EXPECT_THAT(ClassificationHead(config({"a", "b"}), 2).labels(), ElementsAre("a", "b"));
  EXPECT_THROW(ClassificationHead(config({"a", "b"}), 3), Error);
  EXPECT_THROW(ClassificationHead(config({}), 0), Error);
}

TEST(ClassificationHead, SoftmaxIsFiniteForAnyLogits) {
  const ClassificationHead head(config({}), 3);
  EXPECT_THAT(scores(head, {0, 0, 0}),
              ElementsAre(FloatNear(1 / 3.0f, 1e-7f), FloatNear(1 / 3.0f, 1e-7f), FloatNear(1 / 3.0f, 1e-7f)));
  EXPECT_THAT(scores(head, {1, 2, 3}),
              ElementsAre(FloatNear(0.09003057f, 1e-7f), FloatNear(0.24472847f, 1e-7f), FloatNear(0.66524096f, 1e-7f)));
  EXPECT_THAT(scores(head, {3e38f, -3e38f, 0}), ElementsAre(1, 0, 0));
  EXPECT_THAT(scores(head, {kInfinity, kInfinity, 5}), ElementsAre(0.5f, 0.5f, 0));
  EXPECT_THAT(scores(head, {-kInfinity, -kInfinity, 5}), ElementsAre(0, 0, 1));
  EXPECT_THAT(scores(head, {-kInfinity, -kInfinity, -kInfinity}),
              ElementsAre(FloatNear(1 / 3.0f, 1e-7f), FloatNear(1 / 3.0f, 1e-7f), FloatNear(1 / 3.0f, 1e-7f)));
  EXPECT_THROW(scores(head, {0, std::nanf(""), 0}), Error);
}

TEST(ClassificationHead, SigmoidBinaryAndRegression) {
  EXPECT_THAT(scores(ClassificationHead(config({}, ProblemType::kMultiLabel), 3), {0, -1000, kInfinity}),
              ElementsAre(0.5f, 0, 1));
  EXPECT_THAT(scores(ClassificationHead(config({"no", "yes"}), 1), {2}),
              ElementsAre(FloatNear(0.11920292f, 1e-7f), FloatNear(0.88079708f, 1e-7f)));
  EXPECT_THAT(scores(ClassificationHead(config({}, ProblemType::kRegression), 2), {-3.5f, kInfinity}),
              ElementsAre(-3.5f, std::numeric_limits<float>::max()));
}

}  // namespace
}  // namespace sardonyx::pipeline
