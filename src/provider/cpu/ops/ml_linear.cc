#include <algorithm>
#include <vector>

#include "base/fail.h"
#include "provider/cpu/ops/ml_scores.h"

namespace sardonyx::provider::cpu {
namespace {

/// Rows of coefficients, one for each score, and an intercept each.
struct LinearModel {
  std::vector<float> coefficients, intercepts;

  explicit LinearModel(const NodeDesc& node) {
    if (const auto* given = node.attributes->floats("coefficients")) coefficients = *given;
    if (const auto* given = node.attributes->floats("intercepts")) intercepts = *given;
  }
  /// Throws where the sizes don't fit each other.
  void check(std::int64_t scores, std::int64_t columns) const {
    if (static_cast<std::int64_t>(coefficients.size()) != scores * columns ||
        (!intercepts.empty() && static_cast<std::int64_t>(intercepts.size()) != scores)) {
      fail(ErrorCode::kInvalidModel, "{} coefficients and {} intercepts for {} scores of {} features",
           coefficients.size(), intercepts.size(), scores, columns);
    }
  }
  template <typename T>
  float score(const T* row, std::int64_t which, std::int64_t columns) const {
    const float* weights = coefficients.data() + which * columns;
    double sum = 0;
    for (std::int64_t i = 0; i < columns; ++i) sum += static_cast<double>(weights[i]) * static_cast<double>(row[i]);
    return static_cast<float>(
        sum + (intercepts.empty() ? 0.0 : static_cast<double>(intercepts[static_cast<std::size_t>(which)])));
  }
};

class LinearRegressorKernel final : public Kernel {
 public:
  explicit LinearRegressorKernel(const NodeDesc& node) : model_(node), transform_(parse_post_transform(node)) {}
  void run(RunContext& context) const override {
    const TensorView &x = context.input(0), &y = context.output(0);
    const FeatureShape shape = feature_shape(x);
    const std::int64_t targets = y.shape[1];
    model_.check(targets, shape.columns);
    float* out = y.mutable_data<float>();
    dispatch(FeatureTypes{}, x.type, "LinearRegressor", [&]<typename T>() {
      const T* in = x.data<T>();
      context.parallel.parallel_for(static_cast<std::size_t>(shape.rows), 64, [&](std::size_t begin, std::size_t end) {
        for (auto row = static_cast<std::int64_t>(begin); row < static_cast<std::int64_t>(end); ++row) {
          for (std::int64_t t = 0; t < targets; ++t)
            out[row * targets + t] = model_.score(in + row * shape.columns, t, shape.columns);
          post_transform(transform_, out + row * targets, static_cast<std::size_t>(targets));
        }
      });
    });
  }

 private:
  LinearModel model_;
  PostTransform transform_;
};

class LinearClassifierKernel final : public Kernel {
 public:
  explicit LinearClassifierKernel(const NodeDesc& node)
      : model_(node),
        transform_(parse_post_transform(node)),
        labels_(node, "classlabels_ints", "classlabels_strings") {}

  void run(RunContext& context) const override {
    const TensorView& x = context.input(0);
    const FeatureShape shape = feature_shape(x);
    const std::size_t raw = model_.intercepts.empty() ? labels_.count() : model_.intercepts.size();
    model_.check(static_cast<std::int64_t>(raw), shape.columns);
    if (raw > labels_.count()) fail(ErrorCode::kInvalidModel, "{} scores for {} class labels", raw, labels_.count());
    dispatch(FeatureTypes{}, x.type, "LinearClassifier", [&]<typename T>() {
      const T* in = x.data<T>();
      context.parallel.parallel_for(static_cast<std::size_t>(shape.rows), 64, [&](std::size_t begin, std::size_t end) {
        std::vector<float> scores(std::max<std::size_t>(raw, 2));
        for (auto row = static_cast<std::int64_t>(begin); row < static_cast<std::int64_t>(end); ++row) {
          for (std::size_t s = 0; s < raw; ++s)
            scores[s] = model_.score(in + row * shape.columns, static_cast<std::int64_t>(s), shape.columns);
          finish(context, row, scores, raw);
        }
      });
    });
  }

 private:
  void finish(const RunContext& context, std::int64_t row, std::vector<float>& scores, std::size_t raw) const {
    std::size_t count = raw;
    const float margin = scores[0];
    if (raw == 1 && labels_.count() == 2) {
      write_two_scores(transform_, SecondClass::kComplement, margin, scores.data());
      count = 2;
      if (context.wants_output(0)) labels_.write(context.output(0), row, margin > 0 ? 1 : 0);
    } else {
      const std::size_t best = index_of_largest(scores.data(), raw);
      post_transform(transform_, scores.data(), raw);
      const float threshold = transform_ == PostTransform::kNone ? 0.0F : 0.5F;
      if (context.wants_output(0) && raw == 1) labels_.write_if(context.output(0), row, scores[0] >= threshold);
      if (context.wants_output(0) && raw != 1) labels_.write(context.output(0), row, best);
    }
    if (context.wants_output(1))
      std::copy_n(scores.begin(), count,
                  context.output(1).mutable_data<float>() + row * static_cast<std::int64_t>(count));
  }

  LinearModel model_;
  PostTransform transform_;
  ClassLabels labels_;
};

}  // namespace

void add_ml_linear_kernels(KernelTable& table) {
  table.push_back({"ai.onnx.ml", "LinearRegressor", supports_features, make<LinearRegressorKernel>});
  table.push_back({"ai.onnx.ml", "LinearClassifier", supports_features, make<LinearClassifierKernel>});
}

}  // namespace sardonyx::provider::cpu
