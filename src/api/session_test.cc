#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "api/testing.h"

namespace sardonyx::api {
namespace {

using testing::sentiment_inputs;
using testing::sentiment_model;

TEST(Session, ManyThreadsGetTheAnswersOfOne) {
  const Session session = Session::load(sentiment_model());
  std::vector<NamedValues> inputs;
  std::vector<Value> expected;
  for (std::int64_t length : {3, 8, 17, 40}) {
    inputs.push_back(sentiment_inputs(1 + length % 3, length));
    expected.push_back(session.run(inputs.back())[0]);
  }
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 12; ++round) {
        const auto i = static_cast<std::size_t>(t + round) % inputs.size();
        if (!identical(session.run(inputs[i])[0].tensor().view(), expected[i].tensor().view())) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Session, OneThreadAndTwoGiveTheSameBits) {
  const NamedValues inputs = sentiment_inputs(4, 21);
  SessionOptions one, two;
  one.threads = 1;
  two.threads = 2;
  const Value a = Session::load(sentiment_model(), one).run(inputs)[0];
  const Value b = Session::load(sentiment_model(), two).run(inputs)[0];
  EXPECT_TRUE(identical(a.tensor().view(), b.tensor().view()));
}

TEST(Session, TheBatchChangesNoBit) {
  const Session session = Session::load(sentiment_model());
  const NamedValues batch = sentiment_inputs(3, 20);
  const Value together = session.run(batch)[0];
  for (std::int64_t row = 0; row < 3; ++row) {
    NamedValues alone;
    for (const auto& [name, value] : batch) {
      const std::span<const std::int64_t> all = value.tensor().span<std::int64_t>();
      alone.emplace_back(name, Tensor::from<std::int64_t>({1, 20}, all.subspan(static_cast<std::size_t>(row * 20), 20)));
    }
    const Value answer = session.run(alone)[0];
    for (std::int64_t i = 0; i < 2; ++i) {
      EXPECT_EQ(answer.tensor().data<float>()[i], together.tensor().data<float>()[row * 2 + i]) << "row " << row;
    }
  }
}

TEST(Session, InputsAreCheckedByName) {
  const Session session = Session::load(sentiment_model());
  const auto message = [&](const NamedValues& inputs) -> std::string {
    try {
      session.run(inputs);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      return error.what();
    }
    return "no error";
  };
  NamedValues inputs = sentiment_inputs(1, 4);
  inputs.pop_back();
  EXPECT_NE(message(inputs).find("input 'token_type_ids'"), std::string::npos);
  inputs.emplace_back("token_types", Tensor(ElementType::kInt64, {1, 4}));
  EXPECT_NE(message(inputs).find("no input 'token_types'"), std::string::npos);
  inputs.back() = {"token_type_ids", Tensor(ElementType::kFloat32, {1, 4})};
  EXPECT_NE(message(inputs).find("element type is float"), std::string::npos);
  inputs.back() = {"token_type_ids", Tensor(ElementType::kInt64, {4})};
  EXPECT_NE(message(inputs).find("has shape [4]"), std::string::npos);
  inputs.back() = {"token_type_ids", Tensor(ElementType::kInt64, {1, 5})};
  EXPECT_NE(message(inputs).find("has shape [1,5]"), std::string::npos);
}

TEST(Session, RunsStopWhenAsked) {
  const Session session = Session::load(sentiment_model());
  const std::atomic<bool> cancelled{true};
  RunOptions options;
  options.cancelled = &cancelled;
  const auto code = [&] {
    try {
      session.run(sentiment_inputs(1, 4), {}, options);
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::kInternal;
  };
  EXPECT_EQ(code(), ErrorCode::kCancelled);
  options.cancelled = nullptr;
  options.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  EXPECT_EQ(code(), ErrorCode::kDeadlineExceeded);
}

TEST(Session, ProfilesName) {
  SessionOptions options;
  options.profile = true;
  const Session session = Session::load(sentiment_model(), options);
  session.run(sentiment_inputs(1, 4));
  const std::string trace = session.profile_json();
  EXPECT_NE(trace.find("\"op\":\"FusedMatMul\""), std::string::npos);
  EXPECT_NE(trace.find("float[1,4,384]"), std::string::npos);
}

}  // namespace
}  // namespace sardonyx::api
