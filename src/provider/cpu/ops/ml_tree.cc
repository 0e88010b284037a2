#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/fail.h"
#include "provider/cpu/ops/ml_scores.h"
#include "provider/cpu/ops/tree_model.h"

namespace sardonyx::provider::cpu {
namespace {

enum class Aggregate : std::uint8_t { kAverage, kSum, kMin, kMax };  // numbered as in TreeEnsemble

Aggregate parse_aggregate(const std::string& text) {
  if (text == "AVERAGE") return Aggregate::kAverage;
  if (text == "SUM") return Aggregate::kSum;
  if (text == "MIN") return Aggregate::kMin;
  if (text == "MAX") return Aggregate::kMax;
  fail(ErrorCode::kInvalidModel, "attribute 'aggregate_function' must be AVERAGE, SUM, MIN or MAX, found {}", text);
}

std::vector<double> read_base_values(const NodeDesc& node) {
  if (const auto* floats = node.attributes->floats("base_values")) return {floats->begin(), floats->end()};
  std::vector<double> out;
  if (const Tensor* tensor = node.attributes->tensor("base_values_as_tensor")) {
    dispatch(Types<float, double>{}, tensor->type(), "base values",
             [&]<typename T>() { out.assign(tensor->data<T>(), tensor->data<T>() + tensor->num_elements()); });
  }
  return out;
}

/// The votes of one row, target by target, trees in order.
class RowScores {
 public:
  explicit RowScores(std::size_t targets) : scores_(targets), voted_(targets) {}
  template <typename T>
  void collect(const TreeModel& model, Aggregate aggregate, const T* row) {
    std::fill(scores_.begin(), scores_.end(), 0.0);
    std::fill(voted_.begin(), voted_.end(), false);
    for (const std::int32_t root : model.roots) {
      const std::size_t leaf = model.leaf(root, row);
      for (std::size_t i = model.leaf_begins[leaf]; i < model.leaf_begins[leaf + 1]; ++i)
        add(model.votes[i], aggregate);
    }
    if (aggregate != Aggregate::kAverage || model.roots.empty()) return;
    for (double& score : scores_) score /= static_cast<double>(model.roots.size());
  }
  double& operator[](std::size_t i) { return scores_[i]; }
  bool voted(std::size_t i) const { return voted_[i]; }
  std::size_t size() const { return scores_.size(); }

 private:
  void add(const TreeModel::Vote& vote, Aggregate aggregate) {
    const auto target = static_cast<std::size_t>(vote.target);
    double& score = scores_[target];
    if (aggregate == Aggregate::kMin) {
      score = voted_[target] ? std::min(score, vote.weight) : vote.weight;
    } else if (aggregate == Aggregate::kMax) {
      score = voted_[target] ? std::max(score, vote.weight) : vote.weight;
    } else {
      score += vote.weight;
    }
    voted_[target] = true;
  }
  std::vector<double> scores_;
  std::vector<bool> voted_;
};

void require_features(const TreeModel& model, const FeatureShape& shape) {
  if (model.features > shape.columns)
    fail(ErrorCode::kInvalidArgument, "the trees look at {} features, but a row has {}", model.features, shape.columns);
}

/// TreeEnsemble and TreeEnsembleRegressor.
class TreeRegressorKernel final : public Kernel {
 public:
  explicit TreeRegressorKernel(const NodeDesc& node) {
    if (node.op_type == "TreeEnsemble") {
      model_ = read_tree_ensemble(node);
      aggregate_ = static_cast<Aggregate>(checked_enum(node, "aggregate_function", 1, 3));
      transform_ = static_cast<PostTransform>(checked_enum(node, "post_transform", 0, 4));
    } else {
      model_ = read_old_tree_ensemble(node, "target", node.attributes->get_int("n_targets", 1));
      aggregate_ = parse_aggregate(node.attributes->get_string("aggregate_function", "SUM"));
      transform_ = parse_post_transform(node);
      base_values_ = read_base_values(node);
      if (base_values_.size() > 1 && static_cast<std::int64_t>(base_values_.size()) != model_.targets) {
        fail(ErrorCode::kInvalidModel, "{} base values for {} targets", base_values_.size(), model_.targets);
      }
    }
  }

  void run(RunContext& context) const override {
    const TensorView &x = context.input(0), &y = context.output(0);
    const FeatureShape shape = feature_shape(x);
    require_features(model_, shape);
    dispatch(Types<float, double, std::int64_t, std::int32_t, Half>{}, x.type, "TreeEnsemble", [&]<typename T>() {
      const T* in = x.data<T>();
      context.parallel.parallel_for(static_cast<std::size_t>(shape.rows), 32, [&](std::size_t begin, std::size_t end) {
        RowScores scores(static_cast<std::size_t>(model_.targets));
        std::vector<float> transformed(scores.size());
        for (std::size_t row = begin; row < end; ++row) {
          scores.collect(model_, aggregate_, in + static_cast<std::int64_t>(row) * shape.columns);
          for (std::size_t t = 0; t < scores.size() && !base_values_.empty(); ++t)
            scores[t] += base_values_[base_values_.size() == 1 ? 0 : t];
          write_row(y, row * scores.size(), scores, transformed);
        }
      });
    });
  }

  static Support supports(const NodeDesc& node) {
    const bool half = node.op_type == "TreeEnsemble" && node.input_type(0) == ElementType::kFloat16;
    return half ? Support::accept() : supports_features(node);
  }

 private:
  static std::int64_t checked_enum(const NodeDesc& node, const char* name, std::int64_t fallback, std::int64_t last) {
    const std::int64_t value = node.attributes->get_int(name, fallback);
    if (value < 0 || value > last)
      fail(ErrorCode::kInvalidModel, "attribute '{}' is {}, expected 0 to {}", name, value, last);
    return value;
  }

  void write_row(const TensorView& y, std::size_t offset, RowScores& scores, std::vector<float>& transformed) const {
    dispatch(Types<float, double, Half>{}, y.type, "TreeEnsemble", [&]<typename T>() {
      T* out = y.mutable_data<T>() + offset;
      if (transform_ == PostTransform::kNone) {
        for (std::size_t t = 0; t < scores.size(); ++t) out[t] = T(scores[t]);
        return;
      }
      for (std::size_t t = 0; t < scores.size(); ++t) transformed[t] = static_cast<float>(scores[t]);
      post_transform(transform_, transformed.data(), transformed.size());
      for (std::size_t t = 0; t < scores.size(); ++t) out[t] = T(transformed[t]);
    });
  }

  TreeModel model_;
  Aggregate aggregate_ = Aggregate::kSum;
  PostTransform transform_ = PostTransform::kNone;
  std::vector<double> base_values_;
};

class TreeClassifierKernel final : public Kernel {
 public:
  explicit TreeClassifierKernel(const NodeDesc& node)
      : labels_(node, "classlabels_int64s", "classlabels_strings"),
        transform_(parse_post_transform(node)),
        base_values_(read_base_values(node)) {
    model_ = read_old_tree_ensemble(node, "class", static_cast<std::int64_t>(labels_.count()));
    std::set<std::int32_t> voted;
    for (const TreeModel::Vote& vote : model_.votes) {
      voted.insert(vote.target);
      all_positive_ = all_positive_ && vote.weight >= 0;
    }
    one_score_ = labels_.count() == 2 && voted.size() == 1;
    votes_for_one_ = voted.count(1) > 0;
    if (base_values_.size() > 2 && base_values_.size() != labels_.count())
      fail(ErrorCode::kInvalidModel, "{} base values for {} classes", base_values_.size(), labels_.count());
  }

  void run(RunContext& context) const override {
    const TensorView& x = context.input(0);
    const FeatureShape shape = feature_shape(x);
    require_features(model_, shape);
    dispatch(FeatureTypes{}, x.type, "TreeEnsembleClassifier", [&]<typename T>() {
      const T* in = x.data<T>();
      context.parallel.parallel_for(static_cast<std::size_t>(shape.rows), 32, [&](std::size_t begin, std::size_t end) {
        RowScores votes(labels_.count());
        std::vector<float> scores(labels_.count());
        for (auto row = static_cast<std::int64_t>(begin); row < static_cast<std::int64_t>(end); ++row) {
          votes.collect(model_, Aggregate::kSum, in + row * shape.columns);
          const std::size_t best = decide(votes, scores);
          if (context.wants_output(0))
            labels_.count() == 1 ? labels_.write_if(context.output(0), row, best == 1)
                                 : labels_.write(context.output(0), row, best);
          if (context.wants_output(1))
            std::copy(scores.begin(), scores.end(),
                      context.output(1).mutable_data<float>() + row * static_cast<std::int64_t>(scores.size()));
        }
      });
    });
  }

 private:
  /// Fills the scores and returns which class wins; for models with one class, 1 where it does.
  std::size_t decide(RowScores& votes, std::vector<float>& scores) const {
    const std::size_t n = votes.size();
    if (one_score_) return decide_two(votes[0] + votes[1], scores);
    for (std::size_t i = 0; i < n; ++i)
      scores[i] = static_cast<float>(votes[i] + (i < base_values_.size() ? base_values_[i] : 0.0));
    const std::size_t best =
        n == 1 ? static_cast<std::size_t>(scores[0] > 0 ? 1 : 0) : index_of_largest(scores.data(), n);
    post_transform(transform_, scores.data(), n);
    return best;
  }
  /// Two classes with votes for one of them only: a probability where no weight is negative, else a margin.
  std::size_t decide_two(double vote, std::vector<float>& scores) const {
    // A base value each makes them two scores of their own, of which class 1 has only its base.
    if (base_values_.size() == 2 && !votes_for_one_) {
      scores = {static_cast<float>(vote + base_values_[0]), static_cast<float>(base_values_[1])};
      const bool positive = scores[1] > (all_positive_ ? 0.5F : 0.0F);
      post_transform(transform_, scores.data(), 2);
      return positive ? 1 : 0;
    }
    const auto score = static_cast<float>(vote + (base_values_.empty() ? 0.0 : base_values_.back()));
    const SecondClass second = all_positive_ ? SecondClass::kComplement : SecondClass::kNegation;
    if (transform_ == PostTransform::kProbit && !all_positive_) {
      scores = {-score, score};
    } else {
      write_two_scores(transform_, second, score, scores.data());
    }
    return score > (all_positive_ ? 0.5F : 0.0F) ? 1 : 0;
  }

  ClassLabels labels_;
  PostTransform transform_;
  std::vector<double> base_values_;
  TreeModel model_;
  bool all_positive_ = true, one_score_ = false, votes_for_one_ = false;
};

}  // namespace

void add_ml_tree_kernels(KernelTable& table) {
  table.push_back({"ai.onnx.ml", "TreeEnsemble", TreeRegressorKernel::supports, make<TreeRegressorKernel>});
  table.push_back({"ai.onnx.ml", "TreeEnsembleRegressor", TreeRegressorKernel::supports, make<TreeRegressorKernel>});
  table.push_back({"ai.onnx.ml", "TreeEnsembleClassifier", supports_features, make<TreeClassifierKernel>});
}

}  // namespace sardonyx::provider::cpu
