#include "apps/server/http_server.h"

#include <condition_variable>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mutex>
#include <thread>

#include "sardonyx/error.h"

#include "apps/server/raw_client.h"

namespace sardonyx::server {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// A server on a free port that answers with what it was sent; "/hold" is answered when released.
class Echo {
 public:
  explicit Echo(HttpLimits limits = {})
      : server_("127.0.0.1", 0, limits, callbacks()), thread_([this] { server_.run(); }) {}
  ~Echo() {
    release();
    drain(0ms, 1000ms);
    join();
  }

  int port() const { return port_; }
  void drain(std::chrono::milliseconds linger, std::chrono::milliseconds deadline) {
    server_.drain(linger, deadline, [this] {
      gave_up = true;
      release();
    });
  }
  void join() {
    if (thread_.joinable()) thread_.join();
  }
  void release() {
    const std::lock_guard lock(mutex_);
    for (auto& respond : held_) respond({.body = "released"});
    held_.clear();
  }
  void wait_for_held(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, 10s, [&] { return held_.size() >= count; });
  }
  std::atomic<bool> gave_up{false};

 private:
  HttpCallbacks callbacks() {
    return {
        .handle = [this](HttpRequest request,
                         std::function<void(HttpResponse)> respond) { handle(std::move(request), std::move(respond)); },
        .reject = [](int status, const std::string& why) { return HttpResponse{.status = status, .body = why}; },
        .connections_changed = [](std::size_t) {},
        .stop_asked = [](int) {}};
  }
  void handle(HttpRequest request, std::function<void(HttpResponse)> respond) {
    if (request.path == "/hold") {
      const std::lock_guard lock(mutex_);
      held_.push_back(std::move(respond));
      changed_.notify_all();
      return;
    }
    respond({.body = request.method + " " + request.path + " " + request.query + " " + request.body});
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::function<void(HttpResponse)>> held_;
  HttpServer server_;
  int port_ = server_.port();
  std::thread thread_;
};

TEST(HttpServer, KeepAliveAndPipelining) {
  Echo echo;
  RawClient client(echo.port());
  client.send(post("one") + post("two") + get("/p?q=1"));
  EXPECT_EQ(body_of(client.receive()), "POST /analyze  one");
  EXPECT_EQ(body_of(client.receive()), "POST /analyze  two");
  EXPECT_EQ(body_of(client.receive()), "GET /p q=1 ");
  client.send(get("/last", "Connection: close\r\n"));
  EXPECT_THAT(client.receive_all(), HasSubstr("GET /last"));
}

TEST(HttpServer, RequestIds) {
  Echo echo;
  RawClient client(echo.port());
  client.send(get("/", "X-Request-Id: abc-1\r\n"));
  EXPECT_THAT(client.receive(), HasSubstr("X-Request-Id: abc-1\r\n"));
  client.send(get("/", "X-Request-Id: a b\"c\r\n"));
  EXPECT_THAT(client.receive(), testing::Not(HasSubstr("a b\"c")));
}

TEST(HttpServer, HeadHasNoBody) {
  Echo echo;
  RawClient client(echo.port());
  client.send("HEAD /x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const std::string response = client.receive_all();
  EXPECT_EQ(status_of(response), 200);
  EXPECT_THAT(response, HasSubstr("Content-Length: "));
  EXPECT_EQ(body_of(response), "");
}

TEST(HttpServer, ChunkedBodyAndExpectContinue) {
  Echo echo;
  RawClient client(echo.port());
  client.send("POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
  EXPECT_EQ(body_of(client.receive()), "POST /c  abcde");
  client.send("POST /e HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_THAT(client.receive(), HasSubstr("100 Continue"));
  client.send("ok");
  EXPECT_EQ(body_of(client.receive()), "POST /e  ok");
}

struct Refused {
  const char* name;
  std::string request;
  int status;
};

TEST(HttpServer, LimitsAndBrokenRequests) {
  const HttpLimits limits{.header_bytes = 1000, .body_bytes = 100};
  const Refused cases[] = {
      {"no HTTP", "hello there\r\n\r\n", 400},
      {"TLS", "\x16\x03\x01\x02\x01\x01", 400},
      {"HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400},
      {"bad length", "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400},
      {"two lengths", "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400},
      {"bad chunk", "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
      {"long header", get("/", "X: " + std::string(2000, 'x') + "\r\n"), 431},
      {"endless header", "GET /" + std::string(200'000, 'x'), 431},
      {"long body", post(std::string(101, 'x')), 413},
      {"huge body claimed", "POST / HTTP/1.1\r\nContent-Length: 99999999999999\r\n\r\n", 413},
      {"long chunked body",
       "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nc8\r\n" + std::string(200, 'x') + "\r\n0\r\n\r\n", 413},
  };
  Echo echo(limits);
  for (const Refused& test : cases) {
    RawClient client(echo.port());
    client.send(test.request);
    client.finish_sending();
    const std::string response = client.receive_all();
    EXPECT_EQ(status_of(response), test.status) << test.name << ": " << response;
    EXPECT_THAT(response, HasSubstr("Connection: close")) << test.name;
  }
  RawClient client(echo.port());
  client.send(post(std::string(100, 'x')));
  EXPECT_EQ(status_of(client.receive()), 200);
}

TEST(HttpServer, AnswerSurvivesUnreadInput) {
  Echo echo({.body_bytes = 100});
  RawClient client(echo.port());
  client.send("POST / HTTP/1.1\r\nContent-Length: 8000000\r\n\r\n");
  for (int i = 0; i < 100; ++i) client.send(std::string(80'000, 'x'));
  client.finish_sending();
  EXPECT_EQ(status_of(client.receive()), 413);
}

TEST(HttpServer, SlowClientsTimeOut) {
  Echo echo({.idle = 300ms, .header = 300ms, .body = 300ms});
  for (const char* begun : {"", "GET / HT", "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nab"}) {
    RawClient client(echo.port());
    client.send(begun);
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(client.receive_all(), "") << begun;
    EXPECT_LT(std::chrono::steady_clock::now() - start, 5s) << begun;
  }
  // A byte now and then doesn't help.
  RawClient client(echo.port());
  const auto start = std::chrono::steady_clock::now();
  while (client.send("x") && std::chrono::steady_clock::now() - start < 5s) std::this_thread::sleep_for(50ms);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
}

TEST(HttpServer, TooManyConnections) {
  Echo echo({.connections = 2});
  RawClient first(echo.port()), second(echo.port());
  first.send(get("/1"));
  second.send(get("/2"));
  EXPECT_EQ(status_of(first.receive()), 200);
  EXPECT_EQ(status_of(second.receive()), 200);
  RawClient third(echo.port());
  EXPECT_EQ(status_of(third.receive()), 503);
  first.send(get("/1"));
  EXPECT_EQ(status_of(first.receive()), 200);
}

TEST(HttpServer, SlowHandlersHoldUpNobodyElse) {
  Echo echo;
  RawClient slow(echo.port());
  slow.send(get("/hold"));
  echo.wait_for_held(1);
  RawClient other(echo.port());
  other.send(get("/quick"));
  EXPECT_EQ(status_of(other.receive()), 200);
  echo.release();
  EXPECT_EQ(body_of(slow.receive()), "released");
}

TEST(HttpServer, DrainAnswersWhatWasTaken) {
  Echo echo;
  RawClient idle(echo.port()), busy(echo.port());
  idle.send(get("/"));
  idle.receive();
  busy.send(get("/hold"));
  echo.wait_for_held(1);
  echo.drain(300ms, 10s);
  std::this_thread::sleep_for(100ms);
  idle.send(
      get("/late"));  // between two requests when the drain began: it gets its answer, and the end of its connection
  const std::string late = idle.receive_all();
  EXPECT_EQ(status_of(late), 200);
  EXPECT_THAT(late, HasSubstr("Connection: close"));
  RawClient newcomer(echo.port());
  newcomer.send(get("/new"));
  EXPECT_EQ(status_of(newcomer.receive()), 200);
  echo.release();
  EXPECT_EQ(body_of(busy.receive()), "released");
  echo.join();
  EXPECT_FALSE(echo.gave_up);
  EXPECT_FALSE(RawClient(echo.port()).connected());
}

TEST(HttpServer, DrainHasADeadline) {
  Echo echo;
  RawClient busy(echo.port()), idle(echo.port()), half(echo.port());
  busy.send(get("/hold"));
  half.send("GET / HT");
  echo.wait_for_held(1);
  const auto start = std::chrono::steady_clock::now();
  echo.drain(0ms, 300ms);
  EXPECT_EQ(body_of(busy.receive()), "released");
  echo.join();
  EXPECT_TRUE(echo.gave_up);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
}

TEST(HttpServer, AddressesThatCannotBe) {
  Echo echo;
  const auto listen = [](const std::string& host, int port) { HttpServer(host, port, {}, {}); };
  EXPECT_THROW(listen("nowhere.example", 0), Error);
  EXPECT_THROW(listen("127.0.0.1", echo.port()), Error);
}

}  // namespace
}  // namespace sardonyx::server
