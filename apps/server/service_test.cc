#include "apps/server/service.h"

#include <condition_variable>
#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mutex>

#include "base/fail.h"

namespace sardonyx::server {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

HttpRequest request(const std::string& method, const std::string& path, const std::string& body = "") {
  return {.method = method, .path = path, .body = body, .id = "id", .received = std::chrono::steady_clock::now()};
}

/// A model that waits at a gate, so that tests decide when texts are done.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  /// Waits; throws as a model's run does when it is stopped.
  void pass(const RunOptions& options) {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    while (!changed_.wait_for(lock, 5ms, [&] { return open_; })) {
      if (options.cancelled->load()) fail(ErrorCode::kCancelled, "cancelled");
      if (std::chrono::steady_clock::now() > options.deadline) fail(ErrorCode::kDeadlineExceeded, "late");
    }
  }
  void wait_for_waiting(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, 10s, [&] { return waiting_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  int waiting_ = 0;
};

class ServiceTest : public testing::Test {
 protected:
  explicit ServiceTest(ServiceOptions options = {.workers = 1, .max_queue = 2}) : service_(options, metrics_) {}

  TextModel model() {
    return {{"BAD", "GOOD"}, [this](const std::string& text, const pipeline::ClassifyOptions& options) {
              if (text.starts_with("wait")) gate_.pass(options.run);
              if (text == "broken") fail(ErrorCode::kInternal, "secret detail");
              if (text == "text fault") fail(ErrorCode::kInvalidArgument, "not UTF-8");
              if (text == "strange") throw std::runtime_error("not an Error");
              pipeline::Classification out{.scores = {0.25f, 0.75f}, .tokens = 9, .used_tokens = 9};
              if (text == "long")
                out = {.scores = {0.75f, 0.25f}, .tokens = 900, .used_tokens = 512, .truncated = true};
              return out;
            }};
  }

  std::future<HttpResponse> send(HttpRequest asked) {
    auto promise = std::make_shared<std::promise<HttpResponse>>();
    service_.handle(std::move(asked), [promise](HttpResponse response) { promise->set_value(std::move(response)); });
    return promise->get_future();
  }
  std::future<HttpResponse> analyze(const std::string& text) {
    return send(request("POST", "/analyze", "{\"text\": \"" + text + "\"}"));
  }
  HttpResponse answer(HttpRequest asked) { return send(std::move(asked)).get(); }

  Gate gate_;
  Metrics metrics_;
  Service service_;
};

TEST_F(ServiceTest, NotReadyUntilThereIsAModel) {
  EXPECT_EQ(answer(request("GET", "/ping")).body, R"({"text":"pong"})");
  EXPECT_EQ(answer(request("GET", "/v2/health/live")).status, 200);
  EXPECT_EQ(answer(request("GET", "/v2/health/ready")).status, 503);
  EXPECT_EQ(answer(request("GET", "/health")).status, 503);
  EXPECT_EQ(analyze("x").get().status, 503);
  service_.set_model(model());
  EXPECT_EQ(answer(request("GET", "/v2/health/ready")).status, 200);
  EXPECT_EQ(answer(request("GET", "/health")).status, 200);
  EXPECT_EQ(analyze("x").get().body, R"({"label":"GOOD","score":0.75})");
}

struct Case {
  const char* body;
  int status;
  const char* holds;
};

TEST_F(ServiceTest, Answers) {
  service_.set_model(model());
  const Case cases[] = {
      {R"({"text": "fine"})", 200, R"("label":"GOOD")"},
      {R"({"text": ""})", 200, R"("label":"GOOD")"},
      {R"({"text": "long"})", 200, R"("truncated":true,"tokens":900)"},
      {R"({"text": "long", "truncate": false})", 422, "900 tokens"},
      {R"({"text": "long", "truncate": null})", 200, "truncated"},
      {R"({"text": "fine", "truncate": "no"})", 422, "truncate"},
      {R"({"text": "fine", "other": [1]})", 200, "GOOD"},
      {"", 400, "invalid_json"},
      {"{", 400, "invalid_json"},
      {"\"fine\"", 422, "validation"},
      {"{}", 422, "validation"},
      {R"({"text": 5})", 422, "validation"},
      {R"({"text": null})", 422, "validation"},
      {R"({"text": ["a"]})", 422, "validation"},
      {"{\"text\": \"\xff\"}", 400, "invalid_json"},
      {R"({"text": "\ud800"})", 400, "invalid_json"},
      {R"({"text": [[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]})", 400, "nested"},
      {R"({"text": "text fault"})", 400, "not UTF-8"},
      {R"({"text": "broken"})", 500, "request id"},
      {R"({"text": "strange"})", 500, "request id"},
  };
  for (const Case& test : cases) {
    const HttpResponse response = answer(request("POST", "/analyze", test.body));
    EXPECT_EQ(response.status, test.status) << test.body << response.body;
    EXPECT_THAT(response.body, HasSubstr(test.holds)) << test.body;
    EXPECT_THAT(response.body, testing::Not(HasSubstr("secret"))) << test.body;
  }
}

TEST_F(ServiceTest, WrongPathsAndMethods) {
  EXPECT_EQ(answer(request("GET", "/nothing")).status, 404);
  const HttpResponse response = answer(request("GET", "/analyze"));
  EXPECT_EQ(response.status, 405);
  EXPECT_THAT(response.headers, testing::Contains(testing::Pair("Allow", "POST")));
  EXPECT_EQ(answer(request("DELETE", "/ping")).status, 405);
}

TEST_F(ServiceTest, AFullQueueIs429AndProbesStillAnswer) {
  service_.set_model(model());
  auto running = analyze("wait 1");
  gate_.wait_for_waiting(1);
  auto second = analyze("wait 2"), third = analyze("wait 3");
  const HttpResponse refused = analyze("wait 4").get();
  EXPECT_EQ(refused.status, 429);
  EXPECT_THAT(refused.headers, testing::Contains(testing::Pair("Retry-After", "1")));
  EXPECT_EQ(answer(request("GET", "/v2/health/live")).status, 200);
  EXPECT_THAT(answer(request("GET", "/metrics")).body, HasSubstr("sardonyx_queue_depth 2"));
  gate_.open();
  EXPECT_EQ(running.get().status, 200);
  EXPECT_EQ(second.get().status, 200);
  EXPECT_EQ(third.get().status, 200);
  EXPECT_EQ(analyze("x").get().status, 200);
}

TEST_F(ServiceTest, ShutdownAnswersWhatWasTaken) {
  service_.set_model(model());
  auto running = analyze("wait 1");
  gate_.wait_for_waiting(1);
  auto waiting = analyze("x");
  service_.begin_shutdown();
  EXPECT_EQ(answer(request("GET", "/v2/health/ready")).status, 503);
  EXPECT_EQ(answer(request("GET", "/v2/health/live")).status, 200);
  EXPECT_EQ(analyze("x").get().status, 503);
  gate_.open();
  service_.stop();
  EXPECT_EQ(running.get().status, 200);
  EXPECT_EQ(waiting.get().status, 200);
}

TEST_F(ServiceTest, CancellingAnswersEverything) {
  service_.set_model(model());
  auto running = analyze("wait 1");
  gate_.wait_for_waiting(1);
  auto waiting = analyze("x");
  service_.cancel_running();
  EXPECT_EQ(running.get().status, 503);
  EXPECT_EQ(waiting.get().status, 503);
}

class HurriedServiceTest : public ServiceTest {
 protected:
  HurriedServiceTest() : ServiceTest({.workers = 1, .max_queue = 4, .request_timeout = 100ms}) {}
};

TEST_F(HurriedServiceTest, LateRequestsAre504) {
  service_.set_model(model());
  auto running = analyze("wait 1");
  gate_.wait_for_waiting(1);
  HttpRequest behind = request("POST", "/analyze", R"({"text": "x"})");
  behind.received -= 50ms;  // so that its time is over before the other's
  auto waiting = send(std::move(behind));
  EXPECT_EQ(running.get().status, 504);
  EXPECT_EQ(waiting.get().status, 504);
}

TEST_F(ServiceTest, MetricsExistBeforeTheFirstRequest) {
  const std::string page = metrics_.text();
  for (const char* series :
       {"sardonyx_requests_total{route=\"/analyze\",status=\"200\"} 0",
        "sardonyx_requests_total{route=\"/analyze\",status=\"429\"} 0", "sardonyx_queue_depth 0", "sardonyx_ready 0",
        "sardonyx_inference_seconds_count 0", "sardonyx_tokens_total 0",
        "sardonyx_request_duration_seconds_count{route=\"/analyze\"} 0", "process_resident_memory_bytes"}) {
    EXPECT_THAT(page, HasSubstr(series));
  }
}

TEST_F(ServiceTest, MetricsCount) {
  service_.set_model(model());
  analyze("long").get();
  analyze("broken").get();
  const std::string page = answer(request("GET", "/metrics")).body;
  EXPECT_THAT(page, HasSubstr("sardonyx_requests_total{route=\"/analyze\",status=\"200\"} 1"));
  EXPECT_THAT(page, HasSubstr("sardonyx_requests_total{route=\"/analyze\",status=\"500\"} 1"));
  EXPECT_THAT(page, HasSubstr("sardonyx_tokens_total 512"));
  EXPECT_THAT(page, HasSubstr("sardonyx_truncated_texts_total 1"));
  EXPECT_THAT(page, HasSubstr("sardonyx_ready 1"));
}

}  // namespace
}  // namespace sardonyx::server
