#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/testing.h"

namespace sardonyx::api {
namespace {

using testing::sentiment_inputs;
using testing::sentiment_model;

SessionOptions on_sim(std::map<std::string, std::string> config = {}) {
  SessionOptions options;
  options.providers = {"sim", "cpu"};
  options.config = std::move(config);
  return options;
}

std::vector<Value> run(const SessionOptions& options, const NamedValues& inputs) {
  return Session::load(sentiment_model(), options).run(inputs);
}

class SimGaps : public ::testing::TestWithParam<int> {};

TEST_P(SimGaps, AnswersAreTheCpusBitForBit) {
  const NamedValues inputs = sentiment_inputs(3, 12);
  SessionOptions unfused;
  unfused.optimization_level = OptimizationLevel::kBasic;
  const std::vector<Value> expected = run(unfused, inputs);
  for (const char* seed : {"1", "2", "3"}) {
    SessionOptions options = on_sim({{"sim.gap_percent", std::to_string(GetParam())}, {"sim.gap_seed", seed}});
    options.optimization_level = OptimizationLevel::kBasic;
    const std::vector<Value> found = run(options, inputs);
    EXPECT_TRUE(identical(expected[0].tensor().view(), found[0].tensor().view())) << "gap seed " << seed;
  }
}

// Where gaps lie decides what is fused, and Gelu in one step may round otherwise than in five.
TEST_P(SimGaps, FusedAnswersAgree) {
  const NamedValues inputs = sentiment_inputs(3, 12);
  const std::vector<Value> expected = run({}, inputs);
  for (const char* seed : {"1", "2", "3"}) {
    const std::vector<Value> found =
        run(on_sim({{"sim.gap_percent", std::to_string(GetParam())}, {"sim.gap_seed", seed}}), inputs);
    for (std::int64_t i = 0; i < expected[0].tensor().num_elements(); ++i) {
      EXPECT_NEAR(expected[0].tensor().data<float>()[i], found[0].tensor().data<float>()[i], 1e-5)
          << "gap seed " << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shares, SimGaps, ::testing::Values(0, 10, 50, 90, 100));

TEST(Sim, DeclinedOperatorsRunOnTheCpuAndTheReportSaysWhy) {
  const Session session = Session::load(sentiment_model(), on_sim({{"sim.decline", "LayerNormalization"}}));
  const nlohmann::json report = nlohmann::json::parse(session.explain_json());
  int declined = 0;
  for (const auto& node : report["nodes"]) {
    if (node["operator"] != "LayerNormalization") continue;
    ++declined;
    EXPECT_EQ(node["provider"], "cpu");
    EXPECT_EQ(node["declined"], nlohmann::json({"sim: LayerNormalization is in sim.decline"}));
  }
  EXPECT_GT(declined, 0);
}

TEST(Sim, OneGapCostsOneCopyEachWay) {
  const auto run_time_copies = [](const SessionOptions& options) {
    const nlohmann::json report = nlohmann::json::parse(Session::load(sentiment_model(), options).explain_json());
    int copies = 0;
    for (const auto& copy : report["copies"]) copies += copy["once"] ? 0 : 1;
    return copies;
  };
  const nlohmann::json report = nlohmann::json::parse(Session::load(sentiment_model(), on_sim()).explain_json());
  std::string norm;
  for (const auto& node : report["nodes"]) {
    if (node["operator"] == "LayerNormalization") norm = node["name"];
  }
  ASSERT_FALSE(norm.empty());
  EXPECT_EQ(run_time_copies(on_sim({{"sim.decline_nodes", norm}})), run_time_copies(on_sim()) + 2);
}

TEST(Sim, StrictUnlessFallbackIsAskedFor) {
  SessionOptions options = on_sim({{"sim.decline", "LayerNormalization"}});
  options.providers = {"sim"};
  try {
    Session::load(sentiment_model(), options);
    FAIL() << "a node that no named provider runs was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_NE(std::string(error.what()).find("LayerNormalization is in sim.decline"), std::string::npos)
        << error.what();
  }
  options.allow_fallback = true;
  const Session session = Session::load(sentiment_model(), options);
  EXPECT_NE(session.explain().find("fell back to the cpu"), std::string::npos);
}

TEST(Sim, UnknownOptionsAreErrors) {
  EXPECT_THROW(Session::load(sentiment_model(), on_sim({{"sim.declin", "LayerNormalization"}})), Error);
  EXPECT_THROW(Session::load(sentiment_model(), on_sim({{"sim.gap_percent", "101"}})), Error);
  SessionOptions options;
  options.config = {{"sim.decline", "LayerNormalization"}};
  EXPECT_THROW(Session::load(sentiment_model(), options), Error) << "the session has no sim provider";
}

}  // namespace
}  // namespace sardonyx::api
