#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "base/fail.h"
#include "kernels/math/double_math.h"
#include "provider/cpu/ops/ml_scores.h"

namespace sardonyx::provider::cpu {
namespace {

enum class SvmKernelKind { kLinear, kPolynomial, kRadial, kSigmoid };

/// The kernel function of a support vector machine, in double.
class KernelFunction {
 public:
  explicit KernelFunction(const NodeDesc& node) {
    const std::string kind = node.attributes->get_string("kernel_type", "LINEAR");
    if (kind == "LINEAR")
      kind_ = SvmKernelKind::kLinear;
    else if (kind == "POLY")
      kind_ = SvmKernelKind::kPolynomial;
    else if (kind == "RBF")
      kind_ = SvmKernelKind::kRadial;
    else if (kind == "SIGMOID")
      kind_ = SvmKernelKind::kSigmoid;
    else
      fail(ErrorCode::kInvalidModel, "attribute 'kernel_type' must be LINEAR, POLY, RBF or SIGMOID, found {}", kind);
    if (const auto* params = node.attributes->floats("kernel_params"); params && !params->empty()) {
      if (params->size() != 3)
        fail(ErrorCode::kInvalidModel, "attribute 'kernel_params' must be gamma, coef0 and degree");
      gamma_ = (*params)[0];
      offset_ = (*params)[1];
      degree_ = (*params)[2];
    }
  }
  void make_linear() { kind_ = SvmKernelKind::kLinear; }

  template <typename T>
  double operator()(const T* x, const float* y, std::int64_t n) const {
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const auto a = static_cast<double>(x[i]), b = static_cast<double>(y[i]);
      sum += kind_ == SvmKernelKind::kRadial ? (a - b) * (a - b) : a * b;
    }
    switch (kind_) {
      case SvmKernelKind::kLinear: return sum;
      case SvmKernelKind::kRadial: return kernels::double_math::exp(-gamma_ * sum);
      case SvmKernelKind::kPolynomial: return std::pow(gamma_ * sum + offset_, degree_);
      case SvmKernelKind::kSigmoid: break;
    }
    return 1 - 2 / (kernels::double_math::exp(2 * (gamma_ * sum + offset_)) + 1);  // tanh
  }

 private:
  SvmKernelKind kind_ = SvmKernelKind::kLinear;
  double gamma_ = 0, offset_ = 0, degree_ = 0;
};

std::vector<float> float_list(const NodeDesc& node, const char* name) {
  const auto* given = node.attributes->floats(name);
  return given ? *given : std::vector<float>();
}

void require_size(std::size_t found, std::size_t expected, const char* name) {
  if (found != expected)
    fail(ErrorCode::kInvalidModel, "attribute '{}' has {} elements, expected {}", name, found, expected);
}

class SvmRegressorKernel final : public Kernel {
 public:
  explicit SvmRegressorKernel(const NodeDesc& node)
      : function_(node),
        transform_(parse_post_transform(node)),
        coefficients_(float_list(node, "coefficients")),
        vectors_(float_list(node, "support_vectors")) {
    one_class_ = node.attributes->get_int("one_class", 0) != 0;
    supports_ = node.attributes->get_int("n_supports", 0);
    const std::vector<float> rho = float_list(node, "rho");
    rho_ = rho.empty() ? 0.0 : static_cast<double>(rho[0]);
    if (supports_ <= 0) function_.make_linear();
    if (supports_ > 0) require_size(coefficients_.size(), static_cast<std::size_t>(supports_), "coefficients");
  }
  void run(RunContext& context) const override {
    const TensorView& x = context.input(0);
    const FeatureShape shape = feature_shape(x);
    const auto columns = static_cast<std::size_t>(shape.columns);
    if (supports_ > 0) require_size(vectors_.size(), static_cast<std::size_t>(supports_) * columns, "support_vectors");
    if (supports_ <= 0) require_size(coefficients_.size(), columns, "coefficients");
    float* out = context.output(0).mutable_data<float>();
    dispatch(FeatureTypes{}, x.type, "SVMRegressor", [&]<typename T>() {
      const T* in = x.data<T>();
      context.parallel.parallel_for(static_cast<std::size_t>(shape.rows), 16, [&](std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; ++row) {
          const T* features = in + row * columns;
          double sum = rho_;
          if (supports_ <= 0) sum += function_(features, coefficients_.data(), shape.columns);
          for (std::int64_t j = 0; j < supports_; ++j) {
            sum += static_cast<double>(coefficients_[static_cast<std::size_t>(j)]) *
                   function_(features, vectors_.data() + j * shape.columns, shape.columns);
          }
          out[row] = one_class_ ? (sum > 0 ? 1.0F : -1.0F) : static_cast<float>(sum);
          post_transform(transform_, out + row, 1);
        }
      });
    });
  }

 private:
  KernelFunction function_;
  PostTransform transform_;
  std::vector<float> coefficients_, vectors_;
  double rho_ = 0;
  std::int64_t supports_ = 0;
  bool one_class_ = false;
};

/// Class probabilities from those of pairs, by Wu, Lin and Weng's second method (as libsvm). pair[i * k + j] is the
/// probability of i against j.
std::vector<double> couple_pairs(const std::vector<double>& pair, std::size_t k) {
  std::vector<double> q(k * k, 0), p(k, 1.0 / static_cast<double>(k)), qp(k);
  for (std::size_t t = 0; t < k; ++t) {
    for (std::size_t j = 0; j < k; ++j) {
      if (j == t) continue;
      q[t * k + t] += pair[j * k + t] * pair[j * k + t];
      q[t * k + j] = -pair[j * k + t] * pair[t * k + j];
    }
  }
  for (std::size_t round = 0; round < std::max<std::size_t>(100, k); ++round) {
    double pqp = 0, error = 0;
    for (std::size_t t = 0; t < k; ++t) {
      qp[t] = std::inner_product(p.begin(), p.end(), q.begin() + static_cast<std::ptrdiff_t>(t * k), 0.0);
      pqp += p[t] * qp[t];
    }
    for (std::size_t t = 0; t < k; ++t) error = std::max(error, std::fabs(qp[t] - pqp));
    if (error < 0.005 / static_cast<double>(k)) break;
    for (std::size_t t = 0; t < k; ++t) {
      const double step = (pqp - qp[t]) / q[t * k + t];
      p[t] += step;
      pqp = (pqp + step * (step * q[t * k + t] + 2 * qp[t])) / (1 + step) / (1 + step);
      for (std::size_t j = 0; j < k; ++j) {
        qp[j] = (qp[j] + step * q[t * k + j]) / (1 + step);
        p[j] /= 1 + step;
      }
    }
  }
  return p;
}

/// One-against-one with support vectors, or one linear function for each class without.
class SvmClassifierKernel final : public Kernel {
 public:
  explicit SvmClassifierKernel(const NodeDesc& node)
      : function_(node),
        transform_(parse_post_transform(node)),
        labels_(node, "classlabels_ints", "classlabels_strings"),
        coefficients_(float_list(node, "coefficients")),
        vectors_(float_list(node, "support_vectors")),
        rho_(float_list(node, "rho")),
        prob_a_(float_list(node, "prob_a")),
        prob_b_(float_list(node, "prob_b")) {
    for (const std::int64_t count : node.attributes->get_ints("vectors_per_class", {})) {
      if (count < 0 || count > (std::int64_t{1} << 40))
        fail(ErrorCode::kInvalidModel, "a class has {} support vectors", count);
      starts_.push_back(total_);
      total_ += static_cast<std::size_t>(count);
    }
    starts_.push_back(total_);
    const std::size_t k = labels_.count(), pairs = k * (k - 1) / 2;
    if (total_ == 0) {
      function_.make_linear();
      if (rho_.empty()) rho_ = {0.0F};
    } else {
      require_size(starts_.size() - 1, k, "vectors_per_class");
      require_size(coefficients_.size(), (k - 1) * total_, "coefficients");
      require_size(rho_.size(), pairs, "rho");
      if (!prob_a_.empty()) require_size(prob_a_.size(), pairs, "prob_a");
      if (!prob_a_.empty()) require_size(prob_b_.size(), pairs, "prob_b");
    }
  }

  void run(RunContext& context) const override {
    const TensorView& x = context.input(0);
    const FeatureShape shape = feature_shape(x);
    const auto columns = static_cast<std::size_t>(shape.columns);
    if (total_ > 0) require_size(vectors_.size(), total_ * columns, "support_vectors");
    if (total_ == 0) require_size(coefficients_.size(), labels_.count() * columns, "coefficients");
    dispatch(FeatureTypes{}, x.type, "SVMClassifier", [&]<typename T>() {
      const T* in = x.data<T>();
      context.parallel.parallel_for(static_cast<std::size_t>(shape.rows), 16, [&](std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; ++row)
          classify(context, in + row * columns, shape.columns, static_cast<std::int64_t>(row));
      });
    });
  }

 private:
  template <typename T>
  void classify(const RunContext& context, const T* row, std::int64_t columns, std::int64_t index) const {
    const std::size_t k = labels_.count();
    std::vector<double> scores, votes(k, 0);
    if (total_ == 0) {
      for (std::size_t c = 0; c < k; ++c)
        scores.push_back(static_cast<double>(rho_[0]) +
                         function_(row, coefficients_.data() + static_cast<std::int64_t>(c) * columns, columns));
      votes = scores;
    } else {
      std::vector<double> similarity(total_);
      for (std::size_t j = 0; j < total_; ++j)
        similarity[j] = function_(row, vectors_.data() + static_cast<std::int64_t>(j) * columns, columns);
      compare_pairs(similarity, scores, votes);
      if (!prob_a_.empty()) scores = probabilities(scores);
    }
    finish(context, index, scores, votes);
  }

  /// A decision for each pair of classes and who wins how many.
  void compare_pairs(const std::vector<double>& similarity, std::vector<double>& scores,
                     std::vector<double>& votes) const {
    const std::size_t k = labels_.count();
    for (std::size_t i = 0; i < k; ++i) {
      for (std::size_t j = i + 1; j < k; ++j) {
        double sum = rho_[scores.size()];
        for (std::size_t v = starts_[i]; v < starts_[i + 1]; ++v)
          sum += static_cast<double>(coefficients_[(j - 1) * total_ + v]) * similarity[v];
        for (std::size_t v = starts_[j]; v < starts_[j + 1]; ++v)
          sum += static_cast<double>(coefficients_[i * total_ + v]) * similarity[v];
        scores.push_back(sum);
        ++votes[sum > 0 ? i : j];
      }
    }
  }

  std::vector<double> probabilities(const std::vector<double>& decisions) const {
    const std::size_t k = labels_.count();
    std::vector<double> pair(k * k, 0);
    std::size_t index = 0;
    for (std::size_t i = 0; i < k; ++i) {
      for (std::size_t j = i + 1; j < k; ++j, ++index) {
        const double value =
            decisions[index] * static_cast<double>(prob_a_[index]) + static_cast<double>(prob_b_[index]);
        const double p = std::clamp(1 / (1 + kernels::double_math::exp(value)), 1e-7, 1 - 1e-7);
        pair[i * k + j] = p;
        pair[j * k + i] = 1 - p;
      }
    }
    return couple_pairs(pair, k);
  }

  void finish(const RunContext& context, std::int64_t index, const std::vector<double>& scores,
              const std::vector<double>& votes) const {
    const auto best = static_cast<std::size_t>(std::max_element(votes.begin(), votes.end()) - votes.begin());
    std::vector<float> row(scores.begin(), scores.end());
    if (row.size() == 1 && labels_.count() == 2) {
      const float score = row[0];
      row.resize(2);
      if (transform_ == PostTransform::kProbit) {
        row = {-score, score};
        post_transform(transform_, row.data(), 2);
      } else {
        write_two_scores(transform_, SecondClass::kNegation, score, row.data());
      }
    } else {
      post_transform(transform_, row.data(), row.size());
    }
    if (context.wants_output(0)) {
      labels_.count() == 1 ? labels_.write_if(context.output(0), index, votes[0] > 0)
                           : labels_.write(context.output(0), index, best);
    }
    if (context.wants_output(1))
      std::copy(row.begin(), row.end(),
                context.output(1).mutable_data<float>() + index * static_cast<std::int64_t>(row.size()));
  }

  KernelFunction function_;
  PostTransform transform_;
  ClassLabels labels_;
  std::vector<float> coefficients_, vectors_, rho_, prob_a_, prob_b_;
  std::vector<std::size_t> starts_;
  std::size_t total_ = 0;
};

}  // namespace

void add_ml_svm_kernels(KernelTable& table) {
  table.push_back({"ai.onnx.ml", "SVMRegressor", supports_features, make<SvmRegressorKernel>});
  table.push_back({"ai.onnx.ml", "SVMClassifier", supports_features, make<SvmClassifierKernel>});
}

}  // namespace sardonyx::provider::cpu
