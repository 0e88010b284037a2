#include "text/pipeline/classification_head.h"

#include <algorithm>
#include <cmath>

#include "base/fail.h"

namespace sardonyx::pipeline {
namespace {

double sigmoid(double x) {
  if (x >= 0) return 1 / (1 + std::exp(-x));
  const double e = std::exp(x);
  return e / (1 + e);
}

/// Infinite logits share the certainty that they claim; where all are -inf, every label is as likely as the others.
std::vector<float> softmax(std::span<const float> logits) {
  const double top = *std::max_element(logits.begin(), logits.end());
  std::vector<double> weights;
  double sum = 0;
  for (const float logit : logits) {
    weights.push_back(std::isinf(top) ? (logit == top ? 1.0 : 0.0) : std::exp(logit - top));
    sum += weights.back();
  }
  std::vector<float> scores;
  for (const double weight : weights) scores.push_back(static_cast<float>(weight / sum));
  return scores;
}

ClassificationHead::Kind choose_kind(const ModelConfig& config, std::size_t logits) {
  using Kind = ClassificationHead::Kind;
  if (config.problem_type == ProblemType::kRegression) return Kind::kRegression;
  if (logits == 1) return config.labels.size() == 2 ? Kind::kBinary : Kind::kSigmoid;
  return config.problem_type == ProblemType::kMultiLabel ? Kind::kSigmoid : Kind::kSoftmax;
}

float finite(float value) {
  return std::clamp(value, std::numeric_limits<float>::lowest(), std::numeric_limits<float>::max());
}

}  // namespace

ClassificationHead::ClassificationHead(const ModelConfig& config, std::size_t logits)
    : kind_(choose_kind(config, logits)), labels_(config.labels), logits_(logits) {
  if (logits == 0) fail(ErrorCode::kInvalidModel, "expected at least one logit per text, but the model gives none");
  const std::size_t wanted = kind_ == Kind::kBinary ? 2 : logits;
  for (std::size_t i = labels_.size(); config.labels.empty() && i < wanted; ++i)
    labels_.push_back("LABEL_" + std::to_string(i));
  if (labels_.size() != wanted) {
    fail(ErrorCode::kInvalidModel, "config.json names {} labels (id2label), but the model gives {} logits per text",
         labels_.size(), logits);
  }
}

std::vector<float> ClassificationHead::scores(std::span<const float> logits) const {
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (std::isnan(logits[i])) {
      fail(ErrorCode::kInternal, "the model gives NaN for label '{}': its weights or its export are broken",
           labels_[std::min(i, labels_.size() - 1)]);
    }
  }
  if (kind_ == Kind::kSoftmax) return softmax(logits);
  if (kind_ == Kind::kBinary) {
    const double second = sigmoid(logits[0]);
    return {static_cast<float>(1 - second), static_cast<float>(second)};
  }
  std::vector<float> scores;
  for (const float logit : logits) {
    scores.push_back(kind_ == Kind::kSigmoid ? static_cast<float>(sigmoid(logit)) : finite(logit));
  }
  return scores;
}

}  // namespace sardonyx::pipeline
