#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "graph/attribute.h"
#include "provider/cpu/dispatch.h"
#include "provider/cpu/kernel_list.h"

namespace sardonyx::provider::cpu {

/// What models of ai.onnx.ml take as features.
using FeatureTypes = Types<float, double, std::int64_t, std::int32_t>;
Support supports_features(const NodeDesc& node);

/// Rows and columns of a feature matrix [N, F]; a vector [F] is one row.
struct FeatureShape {
  std::int64_t rows = 0, columns = 0;
};
FeatureShape feature_shape(const TensorView& x);

enum class PostTransform : std::uint8_t {
  kNone,
  kSoftmax,
  kLogistic,
  kSoftmaxZero,
  kProbit
};  // numbered as in TreeEnsemble
PostTransform parse_post_transform(const NodeDesc& node);

/// Applies the transform to a row of scores.
void post_transform(PostTransform transform, float* scores, std::size_t n);

/// What two scores a binary model's single score stands for: { 1 - s, s }, or { -s, s } and then the transform. The
/// standard doesn't say; this is what other runtimes do, who apply of all transforms only LOGISTIC to a complement, as
/// to { -s, s }.
enum class SecondClass : std::uint8_t { kComplement, kNegation };
void write_two_scores(PostTransform transform, SecondClass second, float score, float* out);

/// Class labels, integers or strings.
class ClassLabels {
 public:
  ClassLabels(const NodeDesc& node, const char* ints, const char* strings);
  std::size_t count() const { return strings_.empty() ? ints_.size() : strings_.size(); }
  /// Writes label number `which` to element i of `out`, which has the labels' type.
  void write(const TensorView& out, std::int64_t i, std::size_t which) const;
  /// For models with one label: that label, or none (0 or the empty string).
  void write_if(const TensorView& out, std::int64_t i, bool positive) const;

 private:
  std::vector<std::int64_t> ints_;
  std::vector<std::string> strings_;
};

std::size_t index_of_largest(const float* scores, std::size_t n);

void add_ml_linear_kernels(KernelTable& table);   ///< ml_linear.cc: LinearRegressor, LinearClassifier
void add_ml_svm_kernels(KernelTable& table);      ///< ml_svm.cc: SVMRegressor, SVMClassifier
void add_ml_tree_kernels(KernelTable& table);     ///< ml_tree.cc: TreeEnsemble*
void add_ml_encoder_kernels(KernelTable& table);  ///< ml_encoder.cc: LabelEncoder, CategoryMapper, OneHotEncoder
void add_ml_map_kernels(KernelTable& table);      ///< ml_map.cc: ZipMap, CastMap, DictVectorizer

}  // namespace sardonyx::provider::cpu
