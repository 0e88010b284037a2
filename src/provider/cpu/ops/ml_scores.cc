#include "provider/cpu/ops/ml_scores.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/fail.h"
#include "kernels/math/double_math.h"

namespace sardonyx::provider::cpu {
namespace {

using kernels::double_math::exp;
using kernels::double_math::log;

float logistic(float x) {
  const double tail = 1 / (1 + exp(-std::fabs(static_cast<double>(x))));
  return static_cast<float>(x < 0 ? 1 - tail : tail);
}

void softmax(float* scores, std::size_t n) {
  const float largest = *std::max_element(scores, scores + n);
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    scores[i] = static_cast<float>(exp(static_cast<double>(scores[i]) - largest));
    sum += scores[i];
  }
  for (std::size_t i = 0; i < n; ++i) scores[i] = static_cast<float>(scores[i] / sum);
}

/// Softmax where scores of (nearly) zero stay zero.
void softmax_zero(float* scores, std::size_t n) {
  const float largest = *std::max_element(scores, scores + n);
  const double shrink = exp(-static_cast<double>(largest));
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const bool zero = std::fabs(scores[i]) <= 1e-7F;
    scores[i] = static_cast<float>(zero ? scores[i] * shrink : exp(static_cast<double>(scores[i]) - largest));
    sum += scores[i];
  }
  for (std::size_t i = 0; i < n; ++i) scores[i] = sum == 0 ? 0.5F : static_cast<float>(scores[i] / sum);
}

/// The quantile of the normal distribution by Winitzki's approximation of the inverse error function (a = 0.147), as
/// the standard's reference computes it; relative error about 2e-3.
float probit(float p) {
  const double x = 2 * static_cast<double>(p) - 1, rest = (1 - x) * (1 + x);
  if (rest == 0) return 0;
  if (!(rest > 0)) return std::numeric_limits<float>::quiet_NaN();
  const double l = log(rest), v = 2 / (3.14159265358979323846 * 0.147) + 0.5 * l;
  const double y = std::sqrt(std::sqrt(v * v - l / 0.147) - v);
  return static_cast<float>(1.41421356 * (x < 0 ? -y : y));
}

}  // namespace

Support supports_features(const NodeDesc& node) {
  return is_one_of(FeatureTypes{}, node.input_type(0)) ? Support::accept() : decline_type(node, 0);
}

FeatureShape feature_shape(const TensorView& x) {
  if (x.shape.rank() == 1) return {1, x.shape[0]};
  return {x.shape[0], x.shape[1]};
}

PostTransform parse_post_transform(const NodeDesc& node) {
  const std::string text = node.attributes->get_string("post_transform", "NONE");
  if (text == "NONE") return PostTransform::kNone;
  if (text == "SOFTMAX") return PostTransform::kSoftmax;
  if (text == "LOGISTIC") return PostTransform::kLogistic;
  if (text == "SOFTMAX_ZERO") return PostTransform::kSoftmaxZero;
  if (text == "PROBIT") return PostTransform::kProbit;
  fail(ErrorCode::kInvalidModel,
       "attribute 'post_transform' must be NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT, found {}", text);
}

void post_transform(PostTransform transform, float* scores, std::size_t n) {
  if (n == 0) return;
  switch (transform) {
    case PostTransform::kNone: return;
    case PostTransform::kSoftmax: return softmax(scores, n);
    case PostTransform::kSoftmaxZero: return softmax_zero(scores, n);
    case PostTransform::kLogistic: std::transform(scores, scores + n, scores, logistic); return;
    case PostTransform::kProbit: std::transform(scores, scores + n, scores, probit); return;
  }
}

void write_two_scores(PostTransform transform, SecondClass second, float score, float* out) {
  const bool complement = second == SecondClass::kComplement && transform != PostTransform::kLogistic;
  out[0] = complement ? 1 - score : -score;
  out[1] = score;
  if (!complement) post_transform(transform, out, 2);
}

ClassLabels::ClassLabels(const NodeDesc& node, const char* ints, const char* strings) {
  ints_ = node.attributes->get_ints(ints, {});
  if (const auto* names = node.attributes->strings(strings)) strings_ = *names;
}

void ClassLabels::write(const TensorView& out, std::int64_t i, std::size_t which) const {
  if (strings_.empty()) {
    out.mutable_data<std::int64_t>()[i] = ints_[which];
  } else {
    out.mutable_data<std::string>()[i] = strings_[which];
  }
}

void ClassLabels::write_if(const TensorView& out, std::int64_t i, bool positive) const {
  if (positive) return write(out, i, 0);
  if (strings_.empty()) {
    out.mutable_data<std::int64_t>()[i] = 0;
  } else {
    out.mutable_data<std::string>()[i].clear();
  }
}

std::size_t index_of_largest(const float* scores, std::size_t n) {
  return static_cast<std::size_t>(std::max_element(scores, scores + n) - scores);
}

}  // namespace sardonyx::provider::cpu
