#include <cmath>
#include <limits>

#include "provider/cpu/ops/exact_test_util.h"

namespace sardonyx::provider::cpu {
namespace {

using Ints = std::vector<std::int64_t>;
using Floats = std::vector<float>;
using Strings = std::vector<std::string>;
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

std::vector<Value> run_ml(std::string_view op, const graph::Attributes& attributes, const std::vector<Value>& inputs,
                          std::size_t outputs = 1) {
  return run_op(op, attributes, inputs, outputs, "ai.onnx.ml");
}

TEST(LabelEncoder, LastKeyWinsAndNaNMatches) {
  const auto numbers =
      attributes({{"keys_int64s", Ints{1, 2, 1}}, {"values_floats", Floats{1, 2, 3}}, {"default_float", -5.0F}});
  expect_equal(run_ml("LabelEncoder", numbers, {int_vector({1, 2, 9})})[0], floats({3}, {3, 2, -5}));
  const auto names = attributes({{"keys_floats", Floats{kNaN, 0}}, {"values_strings", Strings{"none", "zero"}}});
  expect_equal(run_ml("LabelEncoder", names, {floats({3}, {-kNaN, -0.0F, 1})})[0],
               strings({3}, {"none", "zero", "_Unused"}));
  const auto uneven = attributes({{"keys_int64s", Ints{1}}, {"values_int64s", Ints{1, 2}}});
  expect_error([&] { run_ml("LabelEncoder", uneven, {int_vector({1})}); }, "1 keys and 2 values");
  expect_error([&] { run_ml("LabelEncoder", numbers, {floats({1}, {1})}); }, "keys are int64");
}

TEST(MlScaling, NormalizerScalerImputerBinarizer) {
  const Value x = floats({2, 2}, {3, -4, 0, 0});
  expect_equal(run_ml("Normalizer", attributes({{"norm", std::string("L2")}}), {x})[0],
               floats({2, 2}, {0.6F, -0.8F, 0, 0}));
  expect_equal(run_ml("Normalizer", attributes({{"norm", std::string("L1")}}), {x})[0],
               floats({2, 2}, {3.0F / 7, -4.0F / 7, 0, 0}));
  expect_equal(run_ml("Normalizer", {}, {x})[0], floats({2, 2}, {1, -4.0F / 3, 0, 0}));
  expect_equal(run_ml("Scaler", attributes({{"offset", Floats{1, 2}}, {"scale", Floats{2}}}), {x})[0],
               floats({2, 2}, {4, -12, -2, -4}));
  expect_error([&] { run_ml("Scaler", attributes({{"offset", Floats{1, 2, 3}}}), {x}); }, "3 numbers for 2 columns");
  const auto impute = attributes({{"imputed_value_floats", Floats{7, 8}}, {"replaced_value_float", kNaN}});
  expect_equal(run_ml("Imputer", impute, {floats({2, 2}, {kNaN, 1, 2, kNaN})})[0], floats({2, 2}, {7, 1, 2, 8}));
  const auto impute_ints = attributes({{"imputed_value_int64s", Ints{9}}, {"replaced_value_int64", std::int64_t{-1}}});
  expect_equal(run_ml("Imputer", impute_ints, {ints({1, 2}, {-1, 3})})[0], ints({1, 2}, {9, 3}));
  expect_error([&] { run_ml("Imputer", {}, {x}); }, "no imputed values");
  expect_equal(run_ml("Binarizer", attributes({{"threshold", 1.0F}}), {floats({3}, {1, 2, kNaN})})[0],
               floats({3}, {0, 1, 0}));
}

TEST(OneHotEncoder, UnknownCategories) {
  const auto cats = [](std::int64_t zeros) { return attributes({{"cats_int64s", Ints{5, 7}}, {"zeros", zeros}}); };
  expect_equal(run_ml("OneHotEncoder", cats(1), {floats({2}, {7.9F, kNaN})})[0], floats({2, 2}, {0, 1, 0, 0}));
  expect_error([&] { run_ml("OneHotEncoder", cats(0), {int_vector({6})}); }, "none of the 2 categories");
  expect_error([&] { run_ml("OneHotEncoder", cats(1), {strings({1}, {"x"})}); }, "match");
}

TEST(MlColumns, ExtractAndJoin) {
  const Value x = floats({2, 3}, {0, 1, 2, 3, 4, 5});
  expect_equal(run_ml("ArrayFeatureExtractor", {}, {x, int_vector({2, 0})})[0], floats({2, 2}, {2, 0, 5, 3}));
  expect_equal(run_ml("ArrayFeatureExtractor", {}, {strings({2}, {"a", "b"}), int_vector({1})})[0],
               strings({1, 1}, {"b"}));
  expect_error([&] { run_ml("ArrayFeatureExtractor", {}, {x, int_vector({3})}); }, "feature 3");
  const auto sizes = attributes({{"inputdimensions", Ints{2, 3}}});
  expect_equal(run_ml("FeatureVectorizer", sizes, {x, ints({2, 2}, {6, 7, 8, 9})})[0],
               floats({2, 5}, {0, 1, 6, 7, 0, 3, 4, 8, 9, 0}));
}

TEST(LinearModels, OneAndManyScores) {
  const Value x = floats({2, 2}, {1, 2, -3, 1});
  const auto regressor =
      attributes({{"coefficients", Floats{1, 1, 2, 0}}, {"intercepts", Floats{0.5F, 0}}, {"targets", std::int64_t{2}}});
  expect_equal(run_ml("LinearRegressor", regressor, {x})[0], floats({2, 2}, {3.5F, 2, -1.5F, -6}));
  expect_equal(run_ml("LinearRegressor", attributes({{"coefficients", Floats{1, 1}}}), {floats({2}, {1, 2})})[0],
               floats({1, 1}, {3}));
  const auto binary = attributes({{"coefficients", Floats{1, 1}},
                                  {"intercepts", Floats{0}},
                                  {"classlabels_strings", Strings{"no", "yes"}},
                                  {"post_transform", std::string("LOGISTIC")}});
  const auto out = run_ml("LinearClassifier", binary, {x}, 2);
  expect_equal(out[0], strings({2}, {"yes", "no"}));
  expect_near(out[1], {2, 2}, {0.047426F, 0.952574F, 0.880797F, 0.119203F}, 1e-5F);
  const auto wrong =
      attributes({{"coefficients", Floats{1, 1, 1}}, {"intercepts", Floats{0}}, {"classlabels_ints", Ints{0, 1}}});
  expect_error([&] { run_ml("LinearClassifier", wrong, {x}, 2); }, "3 coefficients");
}

/// Two trees over one feature: x <= 1 gives target 0 ten, else target 1 twenty; and a single leaf that gives target 0
/// one.
graph::Attributes two_trees(const char* prefix) {
  const std::string p = prefix;
  graph::Attributes a = attributes({{"nodes_treeids", Ints{0, 0, 0, 1}},
                                    {"nodes_nodeids", Ints{0, 1, 2, 0}},
                                    {"nodes_featureids", Ints{0, 0, 0, 0}},
                                    {"nodes_modes", Strings{"BRANCH_LEQ", "LEAF", "LEAF", "LEAF"}},
                                    {"nodes_values", Floats{1, 0, 0, 0}},
                                    {"nodes_truenodeids", Ints{1, 0, 0, 0}},
                                    {"nodes_falsenodeids", Ints{2, 0, 0, 0}},
                                    {"nodes_missing_value_tracks_true", Ints{1, 0, 0, 0}}});
  a.set(p + "_treeids", Ints{0, 0, 1});
  a.set(p + "_nodeids", Ints{1, 2, 0});
  a.set(p + "_ids", Ints{0, 1, 0});
  a.set(p + "_weights", Floats{10, 20, 1});
  return a;
}

TEST(TreeEnsembleRegressor, AggregatesAndMissingValues) {
  const Value x = floats({3, 1}, {1, 1.5F, kNaN});
  graph::Attributes a = two_trees("target");
  a.set("n_targets", std::int64_t{2});
  expect_equal(run_ml("TreeEnsembleRegressor", a, {x})[0], floats({3, 2}, {11, 0, 1, 20, 11, 0}));
  a.set("aggregate_function", std::string("MIN"));
  a.set("base_values", Floats{100, 200});
  expect_equal(run_ml("TreeEnsembleRegressor", a, {x})[0], floats({3, 2}, {101, 200, 101, 220, 101, 200}));
  a.set("aggregate_function", std::string("AVERAGE"));
  a.erase("base_values");
  expect_equal(run_ml("TreeEnsembleRegressor", a, {x})[0], floats({3, 2}, {5.5F, 0, 0.5F, 10, 5.5F, 0}));
  expect_equal(run_ml("TreeEnsembleRegressor", a, {floats({0, 1}, {})})[0], floats({0, 2}, {}));
}

TEST(TreeEnsembleClassifier, LargestVoteWins) {
  graph::Attributes a = two_trees("class");
  a.set("classlabels_strings", Strings{"low", "high"});
  const auto out = run_ml("TreeEnsembleClassifier", a, {floats({2, 1}, {0, 2})}, 2);
  expect_equal(out[0], strings({2}, {"low", "high"}));
  expect_equal(out[1], floats({2, 2}, {11, 0, 1, 20}));
}

TEST(TreeEnsembles, HostileModels) {
  const Value x = floats({1, 1}, {0});
  const auto with = [&](const char* name, graph::Attribute value) {
    graph::Attributes a = two_trees("target");
    a.set("n_targets", std::int64_t{2});
    a.set(name, std::move(value));
    return [a, x] { run_ml("TreeEnsembleRegressor", a, {x}); };
  };
  expect_error(with("nodes_truenodeids", Ints{0, 0, 0, 0}), "circle");
  expect_error(with("nodes_truenodeids", Ints{7, 0, 0, 0}), "no node 7");
  expect_error(with("nodes_nodeids", Ints{0, 1, 1, 0}), "twice");
  expect_error(with("nodes_featureids", Ints{-1, 0, 0, 0}), "feature -1");
  expect_error(with("nodes_featureids", Ints{3, 0, 0, 0}), "4 features");
  expect_error(with("nodes_values", Floats{1}), "nodes_values");
  expect_error(with("target_ids", Ints{0, 9, 0}), "target 9");
  expect_error(with("nodes_modes", Strings{"BRANCH_ODD", "LEAF", "LEAF", "LEAF"}), "BRANCH_ODD");
}

TEST(Svm, KernelsOfARegressor) {
  const auto svm = [](const char* kernel) {
    return attributes({{"kernel_type", std::string(kernel)},
                       {"kernel_params", Floats{0.5F, 1, 2}},
                       {"n_supports", std::int64_t{1}},
                       {"support_vectors", Floats{1, 2}},
                       {"coefficients", Floats{2}},
                       {"rho", Floats{0.25F}}});
  };
  const Value x = floats({1, 2}, {3, 1});
  expect_near(run_ml("SVMRegressor", svm("LINEAR"), {x})[0], {1, 1}, {10.25F}, 1e-5F);
  expect_near(run_ml("SVMRegressor", svm("POLY"), {x})[0], {1, 1}, {2 * 12.25F + 0.25F}, 1e-5F);
  expect_near(run_ml("SVMRegressor", svm("RBF"), {x})[0], {1, 1}, {2 * std::exp(-2.5F) + 0.25F}, 1e-5F);
  expect_near(run_ml("SVMRegressor", svm("SIGMOID"), {x})[0], {1, 1}, {2 * std::tanh(3.5F) + 0.25F}, 1e-5F);
  expect_error([&] { run_ml("SVMRegressor", svm("COSINE"), {x}); }, "COSINE");
  expect_error([&] { run_ml("SVMRegressor", svm("RBF"), {floats({1, 1}, {1})}); }, "support_vectors");
}

TEST(ZipMap, RowsBecomeMaps) {
  const auto out =
      run_ml("ZipMap", attributes({{"classlabels_strings", Strings{"a", "b"}}}), {floats({2, 2}, {1, 2, 3, 4})});
  const auto& rows = out[0].sequence().items;
  ASSERT_EQ(rows.size(), 2U);
  expect_equal(rows[1].map().keys, strings({2}, {"a", "b"}));
  expect_equal(rows[1].map().values[1], floats({}, {4}));
  expect_error([] { run_ml("ZipMap", attributes({{"classlabels_int64s", Ints{1}}}), {floats({1, 2}, {1, 2})}); },
               "1 keys for 2 columns");
}

TEST(Maps, BecomeTensors) {
  Map map{int_vector({3, 0}).tensor(), {floats({}, {1.5F}), floats({}, {-2})}};
  expect_equal(run_ml("CastMap", {}, {map})[0], floats({1, 2}, {-2, 1.5F}));
  const auto sparse = [](std::int64_t length, const char* to) {
    return attributes({{"map_form", std::string("SPARSE")}, {"max_map", length}, {"cast_to", std::string(to)}});
  };
  expect_equal(run_ml("CastMap", sparse(4, "TO_INT64"), {map})[0], ints({1, 4}, {-2, 0, 0, 1}));
  expect_error([&] { run_ml("CastMap", sparse(3, "TO_FLOAT"), {map}); }, "key 3");
  expect_equal(run_ml("DictVectorizer", attributes({{"int64_vocabulary", Ints{0, 1, 3}}}), {map})[0],
               floats({1, 3}, {-2, 0, 1.5F}));
  const Map words{int_vector({1}).tensor(), {strings({}, {"2.5x"})}};
  expect_error([&] { run_ml("CastMap", {}, {words}); }, "2.5x");
}

}  // namespace
}  // namespace sardonyx::provider::cpu
