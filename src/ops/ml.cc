#include <algorithm>
#include <string>
#include <utility>

#include "base/fail.h"
#include "graph/attribute.h"
#include "ops/infer_context.h"
#include "ops/op_list.h"

namespace sardonyx::ops {
namespace {

using graph::Attributes;

std::size_t length(const std::vector<std::int64_t>* a, const std::vector<std::string>* b) {
  return a && !a->empty() ? a->size() : b ? b->size() : 0;
}

/// Rows of a feature matrix [N, F]; a vector [F] is one row.
Dim row_count(InferContext& context) {
  const ValueType& x = context.tensor(0);
  if (!x.has_rank) return context.fresh("rows");
  context.require(x.rank() == 1 || x.rank() == 2, "features must have shape [N, F] or [F], found " + x.to_string());
  return x.rank() == 1 ? Dim(1) : x.dims[0];
}

void infer_as_float(InferContext& context) { context.set_like(0, 0, ElementType::kFloat32); }
void infer_same(InferContext& context) { context.set_like(0, 0); }

void infer_label_encoder(InferContext& context) {
  const Attributes& a = context.attributes();
  ElementType element = ElementType::kString;
  if (const Tensor* values = a.tensor("values_tensor")) {
    element = values->type();
  } else if (a.ints("values_int64s")) {
    element = ElementType::kInt64;
  } else if (a.floats("values_floats")) {
    element = ElementType::kFloat32;
  } else {
    context.require(a.strings("values_strings") != nullptr, "LabelEncoder has none of its values_* attributes");
  }
  context.set_like(0, 0, element);
}

void infer_category_mapper(InferContext& context) {
  const ElementType from = context.tensor(0).element;
  context.require(from == ElementType::kString || from == ElementType::kInt64, "CategoryMapper takes strings or int64");
  context.set_like(0, 0, from == ElementType::kString ? ElementType::kInt64 : ElementType::kString);
}

void infer_one_hot_encoder(InferContext& context) {
  const ValueType& x = context.tensor(0);
  const std::size_t categories =
      length(context.attributes().ints("cats_int64s"), context.attributes().strings("cats_strings"));
  context.require(categories > 0, "OneHotEncoder has no categories");
  if (!x.has_rank) return context.set_unranked(0, ElementType::kFloat32);
  std::vector<Dim> dims = x.dims;
  dims.emplace_back(static_cast<std::int64_t>(categories));
  context.set_tensor(0, ElementType::kFloat32, std::move(dims));
}

void infer_array_feature_extractor(InferContext& context) {
  const ValueType &x = context.tensor(0), &indices = context.tensor(1);
  if (!x.has_rank) return context.set_unranked(0, x.element);
  context.require(x.rank() > 0, "ArrayFeatureExtractor needs data of rank 1 or more");
  Dim count(1);
  for (const Dim& dim : indices.dims) count = count * dim;
  std::vector<Dim> dims = x.dims;
  if (dims.size() == 1) dims.insert(dims.begin(), Dim(1));
  dims.back() = indices.has_rank ? count : context.fresh("features");
  context.set_tensor(0, x.element, std::move(dims));
}

void infer_feature_vectorizer(InferContext& context) {
  const auto* sizes = context.attributes().ints("inputdimensions");
  context.require(!sizes || std::all_of(sizes->begin(), sizes->end(), [](std::int64_t size) { return size >= 0; }),
                  "attribute 'inputdimensions' must not be negative");
  Dim rows(1), columns(0);
  for (std::size_t i = 0; i < context.num_inputs(); ++i) {
    const ValueType& x = context.tensor(i);
    if (!x.has_rank) return context.set_tensor(0, ElementType::kFloat32, context.fresh_dims(2, "features"));
    context.require(x.rank() == 1 || x.rank() == 2,
                    "FeatureVectorizer takes vectors and matrices, found " + x.to_string());
    const Dim row = x.rank() == 2 ? x.dims[0] : Dim(1);
    rows = i == 0 ? row : context.same(rows, row, "the rows of the inputs");
    columns = columns + (sizes && i < sizes->size() ? Dim((*sizes)[i]) : x.dims.back());
  }
  context.set_tensor(0, ElementType::kFloat32, {rows, columns});
}

void infer_linear_regressor(InferContext& context) {
  const std::int64_t targets = context.attributes().get_int("targets", 1);
  context.require(targets > 0, "attribute 'targets' must be positive");
  context.set_tensor(0, ElementType::kFloat32, {row_count(context), targets});
}

void infer_svm_regressor(InferContext& context) {
  context.set_tensor(0, ElementType::kFloat32, {row_count(context), 1});
}

/// Labels [N] and scores [N, scores]; `ints` and `strings` name the attributes with the labels.
void set_classification(InferContext& context, const char* ints, const char* strings, std::int64_t scores) {
  const auto* names = context.attributes().strings(strings);
  const bool are_strings = names && !names->empty();
  context.require(are_strings || (context.attributes().ints(ints) && !context.attributes().ints(ints)->empty()),
                  "a classifier without class labels");
  const Dim rows = row_count(context);
  context.set_tensor(0, are_strings ? ElementType::kString : ElementType::kInt64, {rows});
  context.set_tensor(1, ElementType::kFloat32, {rows, scores});
}

void infer_linear_classifier(InferContext& context) {
  const Attributes& a = context.attributes();
  const auto classes = static_cast<std::int64_t>(length(a.ints("classlabels_ints"), a.strings("classlabels_strings")));
  const auto* coefficients = a.floats("coefficients");
  context.require(coefficients && !coefficients->empty(), "attribute 'coefficients' is required");
  const auto* intercepts = a.floats("intercepts");
  std::int64_t scores = intercepts && !intercepts->empty() ? static_cast<std::int64_t>(intercepts->size()) : classes;
  if (scores == 1 && classes == 2) scores = 2;
  set_classification(context, "classlabels_ints", "classlabels_strings", scores);
}

void infer_svm_classifier(InferContext& context) {
  const Attributes& a = context.attributes();
  const auto classes = static_cast<std::int64_t>(length(a.ints("classlabels_ints"), a.strings("classlabels_strings")));
  const auto* per_class = a.ints("vectors_per_class");
  const bool has_vectors =
      per_class && std::any_of(per_class->begin(), per_class->end(), [](std::int64_t n) { return n > 0; });
  const auto* prob_a = a.floats("prob_a");
  std::int64_t scores = classes;
  if (has_vectors && !(prob_a && !prob_a->empty()))
    scores = classes == 2 ? 2 : std::max<std::int64_t>(1, classes * (classes - 1) / 2);
  set_classification(context, "classlabels_ints", "classlabels_strings", std::max<std::int64_t>(scores, 1));
}

void infer_tree_classifier(InferContext& context) {
  const Attributes& a = context.attributes();
  const auto classes =
      static_cast<std::int64_t>(length(a.ints("classlabels_int64s"), a.strings("classlabels_strings")));
  set_classification(context, "classlabels_int64s", "classlabels_strings", classes);
}

void infer_tree_regressor(InferContext& context) {
  const std::int64_t targets = context.attributes().get_int("n_targets", 1);
  context.require(targets > 0, "attribute 'n_targets' must be positive");
  context.set_tensor(0, ElementType::kFloat32, {row_count(context), targets});
}

void infer_tree_ensemble(InferContext& context) {
  infer_tree_regressor(context);
  context.set_tensor(0, context.element(0), context.outputs()[0].dims);
}

void infer_zip_map(InferContext& context) {
  const auto* names = context.attributes().strings("classlabels_strings");
  const ElementType key = names && !names->empty() ? ElementType::kString : ElementType::kInt64;
  context.set_output(0, ValueType::sequence(ValueType::map(key, ValueType::tensor(ElementType::kFloat32, {}))));
}

const ValueType& map_value(const InferContext& context) {
  const ValueType& type = context.input(0);
  context.require(type.kind == ValueType::Kind::kMap && type.inner,
                  "input 0 must be a map, but it is " + type.to_string());
  return *type.inner;
}

void infer_cast_map(InferContext& context) {
  map_value(context);
  const std::string to = context.attributes().get_string("cast_to", "TO_FLOAT");
  context.require(to == "TO_FLOAT" || to == "TO_STRING" || to == "TO_INT64", "attribute 'cast_to' is " + to);
  const ElementType element = to == "TO_FLOAT"    ? ElementType::kFloat32
                              : to == "TO_STRING" ? ElementType::kString
                                                  : ElementType::kInt64;
  const bool sparse = context.attributes().get_string("map_form", "DENSE") == "SPARSE";
  const Dim columns = sparse ? Dim(context.attributes().get_int("max_map", 1)) : context.fresh("entries");
  context.set_tensor(0, element, {1, columns});
}

void infer_dict_vectorizer(InferContext& context) {
  const Attributes& a = context.attributes();
  const std::size_t words = length(a.ints("int64_vocabulary"), a.strings("string_vocabulary"));
  context.set_tensor(0, map_value(context).element, {1, static_cast<std::int64_t>(words)});
}

}  // namespace

void add_ml_ops(OpTable& table) {
  constexpr const char* kMl = "ai.onnx.ml";
  table.push_back({kMl, "LabelEncoder", infer_label_encoder, {}});
  table.push_back({kMl, "CategoryMapper", infer_category_mapper, {}});
  table.push_back({kMl, "Binarizer", infer_same, {.in_place = mask({0})}});
  table.push_back({kMl, "Imputer", infer_same, {.in_place = mask({0})}});
  table.push_back({kMl, "Normalizer", infer_as_float, {}});
  table.push_back({kMl, "Scaler", infer_as_float, {}});
  table.push_back({kMl, "OneHotEncoder", infer_one_hot_encoder, {}});
  table.push_back({kMl, "ArrayFeatureExtractor", infer_array_feature_extractor, {}});
  table.push_back({kMl, "FeatureVectorizer", infer_feature_vectorizer, {}});
  table.push_back({kMl, "LinearRegressor", infer_linear_regressor, {}});
  table.push_back({kMl, "LinearClassifier", infer_linear_classifier, {}});
  table.push_back({kMl, "SVMRegressor", infer_svm_regressor, {}});
  table.push_back({kMl, "SVMClassifier", infer_svm_classifier, {}});
  table.push_back({kMl, "TreeEnsemble", infer_tree_ensemble, {}});
  table.push_back({kMl, "TreeEnsembleRegressor", infer_tree_regressor, {}});
  table.push_back({kMl, "TreeEnsembleClassifier", infer_tree_classifier, {}});
  table.push_back({kMl, "ZipMap", infer_zip_map, {}});
  table.push_back({kMl, "CastMap", infer_cast_map, {.data_dependent = true}});
  table.push_back({kMl, "DictVectorizer", infer_dict_vectorizer, {}});
}

}  // namespace sardonyx::ops
