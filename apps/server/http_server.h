#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace sardonyx::server {

struct HttpRequest {
  std::string method;  ///< "GET", "POST", ...; HEAD is given as GET
  std::string path;    ///< the target up to '?', as it was sent
  std::string query;   ///< what follows '?'
  std::string body;
  std::string id;                                  ///< X-Request-Id where the client sends a sane one, else made up
  std::string traceparent;                         ///< W3C trace context, as sent
  std::string peer;                                ///< the client's address
  std::chrono::steady_clock::time_point received;  ///< when its first byte was read
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;  ///< besides Content-Type, Content-Length, X-Request-Id
};

struct HttpLimits {
  std::size_t header_bytes = 16u << 10;
  std::size_t body_bytes = 1u << 20;
  std::size_t connections = 1024;
  std::chrono::milliseconds idle{60'000};    ///< between requests of a connection
  std::chrono::milliseconds header{10'000};  ///< from a request's first byte to the end of its header
  std::chrono::milliseconds body{30'000};
  std::chrono::milliseconds write{30'000};  ///< for a client to take a response
};

/// What the server asks of its user. All are called on the I/O thread and must not block.
struct HttpCallbacks {
  /// A complete request. `respond` is to be called exactly once, at any time, from any thread.
  std::function<void(HttpRequest request, std::function<void(HttpResponse)> respond)> handle;
  /// The answer to a request that breaks HTTP or a limit; it is sent, and then the connection is closed.
  std::function<HttpResponse(int status, const std::string& why)> reject;
  std::function<void(std::size_t connections)> connections_changed;
  std::function<void(int signal)> stop_asked;  ///< SIGTERM or SIGINT arrived
};

/// An HTTP/1.1 server with one I/O thread. Requests of a connection are answered in order, one at a time. Every
/// `respond` that `handle` was given must be gone before the server is destroyed.
class HttpServer {
 public:
  struct Impl;

  /// Binds and listens: connections queue up until run(). Port 0 picks a free one. Throws Error kInvalidArgument for an
  /// address that isn't one, kIo where it can't be bound.
  HttpServer(const std::string& host, int port, HttpLimits limits, HttpCallbacks callbacks);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const;

  /// Serves on the calling thread until a drain has ended.
  void run();

  /// Ends run(): requests are still taken and answered, each answer closing its connection, until none is being handled
  /// and `linger` has passed (so that clients which are between two requests get an answer too); then connections are
  /// closed. At `deadline` after now `give_up` is called, whose job it is to have the remaining requests answered at
  /// once. Thread-safe; later calls change nothing.
  void drain(std::chrono::milliseconds linger, std::chrono::milliseconds deadline, std::function<void()> give_up);

  /// Runs `work` on the I/O thread. Thread-safe.
  void post(std::function<void()> work);

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace sardonyx::server
