#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/testing.h"

namespace sardonyx::api {
namespace {

using testing::sentiment_inputs;
using testing::sentiment_model;

std::vector<Value> run(const SessionOptions& options, const NamedValues& inputs) { return Session::load(sentiment_model(), options).run(inputs); }

TEST(Fusion, EveryPassAndFusionOffAloneGivesTheSameAnswer) {
  const NamedValues inputs = sentiment_inputs(2, 9);
  SessionOptions plain;
  plain.optimization_level = OptimizationLevel::kDisable;
  const std::vector<Value> expected = run(plain, inputs);
  std::vector<std::string> names = {""};
  for (const auto& [name, description] : optimization_passes()) names.push_back(name);
  for (const std::string& name : names) {
    SessionOptions options;
    if (!name.empty()) options.disabled_passes = {name};
    const std::vector<Value> found = run(options, inputs);
    for (std::int64_t i = 0; i < expected[0].tensor().num_elements(); ++i) {
      EXPECT_NEAR(expected[0].tensor().data<float>()[i], found[0].tensor().data<float>()[i], 1e-5) << "without " << name;
    }
  }
}

TEST(Fusion, TheReportNamesWhatWasFused) {
  const nlohmann::json report = nlohmann::json::parse(Session::load(sentiment_model()).explain_json());
  std::size_t products = 0, with_gelu = 0;
  for (const auto& node : report["nodes"]) {
    if (node["operator"] != "FusedMatMul") continue;
    ++products;
    for (const std::string from : node["fused_from"]) with_gelu += from.starts_with("Gelu") ? 1 : 0;
  }
  EXPECT_EQ(products, 36U) << "six layers of query, key, value, attention output and two of feed-forward";
  EXPECT_EQ(with_gelu, 6U);
}

TEST(Fusion, UnknownPassNamesAreErrorsThatListTheKnownOnes) {
  SessionOptions options;
  options.disabled_passes = {"gelu"};
  try {
    Session::load(sentiment_model(), options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("gelu-fusion"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace sardonyx::api
