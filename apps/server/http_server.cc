#include "apps/server/http_server.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <csignal>
#include <linux/filter.h>
#include <optional>
#include <random>
#include <sys/socket.h>
#include <unordered_set>

#include "base/fail.h"

namespace sardonyx::server {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using Clock = std::chrono::steady_clock;
using boost::system::error_code;

/// How long a closing connection's remaining input is read, so that the answer isn't lost to a reset.
constexpr std::chrono::milliseconds kLingeringClose{2000};
constexpr std::chrono::milliseconds kDrainPoll{20};
/// Beyond the limit of connections, how many are told so; more are closed without a word.
constexpr std::size_t kTurnedAway = 64;
/// After the drain's deadline and give_up, for the last answers to be written.
constexpr std::chrono::milliseconds kLastAnswers{2000};
constexpr std::size_t kMostIdLength = 128;

bool is_sane_id(std::string_view id) {
  if (id.empty() || id.size() > kMostIdLength) return false;
  for (const char c : id) {
    if (c <= ' ' || c > '~' || c == '"' || c == '\\') return false;
  }
  return true;
}

}  // namespace

class Connection;

struct HttpServer::Impl {
  Impl(HttpLimits l, HttpCallbacks c) : limits(l), callbacks(std::move(c)) {}

  HttpLimits limits;
  HttpCallbacks callbacks;
  std::unordered_set<Connection*> connections;
  asio::io_context io{1};  // destroyed with what still waits in it, connections included: before what those use
  tcp::acceptor acceptor{io};
  asio::signal_set signals{io};
  asio::steady_timer accept_timer{io};
  asio::steady_timer drain_timer{io};
  std::size_t handling = 0;  ///< requests taken and not yet answered
  std::mt19937_64 random{std::random_device{}()};

  bool draining = false, refusing = false, closing = false, gave_up = false;
  Clock::time_point linger_until, deadline;
  std::chrono::milliseconds linger{0};
  std::function<void()> give_up;

  std::string make_id() { return fmt::format("{:016x}", random()); }
  void listen(const std::string& host, int port);
  void accept();
  void take(tcp::socket socket);
  void wait_for_signal();
  void start_drain(std::chrono::milliseconds linger, std::chrono::milliseconds deadline, std::function<void()> give_up);
  void poll_drain();
  void close_idle(std::chrono::milliseconds wait);
  void refuse_handshakes();
  void accept_backlog();
};

/// One client. Lives as long as an operation on its socket is pending or its request is being handled.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(HttpServer::Impl& server, tcp::socket socket)
      : server_(server), stream_(std::move(socket)), buffer_(server_.limits.header_bytes + (64u << 10)) {
    error_code ignored;
    stream_.socket().set_option(tcp::no_delay(true), ignored);
    const auto peer = stream_.socket().remote_endpoint(ignored);
    if (!ignored) peer_ = peer.address().to_string();
    server_.connections.insert(this);
    server_.callbacks.connections_changed(server_.connections.size());
  }
  ~Connection() {
    server_.connections.erase(this);
    server_.callbacks.connections_changed(server_.connections.size());
  }

  void start() { wait_for_request(); }

  void turn_away() { reject(503, "the server has as many connections as it allows; try again later"); }

  /// Closes a connection that has waited that long for a request.
  void close_if_idle(std::chrono::milliseconds wait) {
    error_code error;
    const bool has_sent = stream_.socket().available(error) > 0;  // a request that has arrived is answered first
    if (state_ == State::kIdle && !has_sent && Clock::now() - idle_since_ >= wait) close();
  }

 private:
  enum class State { kIdle, kReading, kHandling, kWriting, kClosing };

  void wait_for_request() {
    state_ = State::kIdle;
    idle_since_ = Clock::now();
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(server_.limits.header_bytes));
    parser_->body_limit(server_.limits.body_bytes);
    if (buffer_.size() > 0) return read_header();
    stream_.expires_after(server_.limits.idle);
    stream_.async_read_some(buffer_.prepare(4096), [self = shared_from_this()](error_code error, std::size_t n) {
      if (error) return self->close();
      self->buffer_.commit(n);
      self->read_header();
    });
  }

  void read_header() {
    state_ = State::kReading;
    received_ = Clock::now();
    stream_.expires_after(server_.limits.header);
    http::async_read_header(stream_, buffer_, *parser_, [self = shared_from_this()](error_code error, std::size_t) {
      if (error) return self->read_failed(error);
      self->header_is_read();
    });
  }

  void header_is_read() {
    if (beast::iequals(parser_->get()[http::field::expect], "100-continue") && parser_->get().version() >= 11) {
      continue_.emplace(http::status::continue_, 11);
      stream_.expires_after(server_.limits.write);
      http::async_write(stream_, *continue_, [self = shared_from_this()](error_code error, std::size_t) {
        if (error) return self->close();
        self->read_body();
      });
      return;
    }
    read_body();
  }

  void read_body() {
    stream_.expires_after(server_.limits.body);
    http::async_read(stream_, buffer_, *parser_, [self = shared_from_this()](error_code error, std::size_t) {
      if (error) return self->read_failed(error);
      self->handle();
    });
  }

  void read_failed(error_code error) {
    if (error == http::error::header_limit) return reject(431, "the request's header is too large");
    if (error == http::error::body_limit) {
      return reject(413, fmt::format("the request's body is larger than {} bytes", server_.limits.body_bytes));
    }
    const bool broken = error.category() == http::make_error_code(http::error::bad_method).category() &&
                        error != http::error::end_of_stream && error != http::error::partial_message;
    if (broken) return reject(400, "the request isn't HTTP/1.1: " + error.message());
    close();
  }

  void handle() {
    state_ = State::kHandling;
    stream_.expires_never();
    const auto& message = parser_->get();
    keep_alive_ = message.keep_alive();
    head_ = message.method() == http::verb::head;
    HttpRequest request;
    request.method = head_ ? "GET" : std::string(message.method_string());
    const std::string_view target(message.target().data(), message.target().size());
    const std::size_t mark = target.find('?');
    request.path = target.substr(0, mark);
    if (mark != std::string_view::npos) request.query = target.substr(mark + 1);
    const auto id = message["X-Request-Id"];
    request.id = is_sane_id({id.data(), id.size()}) ? std::string(id) : server_.make_id();
    const auto trace = message["traceparent"];
    if (is_sane_id({trace.data(), trace.size()})) request.traceparent = std::string(trace);
    request.peer = peer_;
    request.received = received_;
    request.body = std::move(parser_->get().body());
    id_ = request.id;
    ++server_.handling;
    // The connection is handed on, not shared: it must end on the I/O thread, and the worker lets go of `respond`
    // later.
    auto owner = std::make_shared<std::shared_ptr<Connection>>(shared_from_this());
    server_.callbacks.handle(std::move(request), [owner, &io = server_.io](HttpResponse response) {
      asio::post(io, [connection = std::move(*owner), response = std::move(response)]() mutable {
        connection->write(std::move(response));
      });
    });
  }

  void reject(int status, const std::string& why) {
    keep_alive_ = false;
    head_ = false;
    id_ = server_.make_id();
    ++server_.handling;
    write(server_.callbacks.reject(status, why));
  }

  void write(HttpResponse response) {
    state_ = State::kWriting;
    if (server_.draining) keep_alive_ = false;
    message_.emplace(static_cast<http::status>(response.status), 11);
    message_->set(http::field::server, "sardonyx");
    message_->set(http::field::content_type, response.content_type);
    message_->set("X-Request-Id", id_);
    for (const auto& [name, value] : response.headers) message_->set(name, value);
    message_->body() = std::move(response.body);
    message_->keep_alive(keep_alive_);
    message_->prepare_payload();
    serializer_.emplace(*message_);
    stream_.expires_after(server_.limits.write);
    auto written = [self = shared_from_this()](error_code error, std::size_t) { self->is_written(error); };
    if (head_)
      http::async_write_header(stream_, *serializer_, std::move(written));
    else
      http::async_write(stream_, *serializer_, std::move(written));
  }

  void is_written(error_code error) {
    --server_.handling;
    if (error) return close();
    if (!keep_alive_) return close_lingering();
    wait_for_request();
  }

  /// Says that nothing more comes, and reads what the client still sends for a while.
  void close_lingering() {
    state_ = State::kClosing;
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    stream_.expires_after(kLingeringClose);
    discard();
  }

  void discard() {
    buffer_.clear();
    stream_.async_read_some(buffer_.prepare(16u << 10), [self = shared_from_this()](error_code error, std::size_t) {
      if (error) return self->close();
      self->discard();
    });
  }

  void close() {
    state_ = State::kClosing;
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
    stream_.close();
  }

  HttpServer::Impl& server_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  State state_ = State::kIdle;
  std::optional<http::request_parser<http::string_body>> parser_;
  std::optional<http::response<http::empty_body>> continue_;
  std::optional<http::response<http::string_body>> message_;
  std::optional<http::response_serializer<http::string_body>> serializer_;
  std::string peer_, id_;
  Clock::time_point received_, idle_since_;
  bool keep_alive_ = false, head_ = false;
};

void HttpServer::Impl::listen(const std::string& host, int port) {
  error_code error;
  const auto address = asio::ip::make_address(host == "localhost" ? "127.0.0.1" : host, error);
  if (error) {
    fail(ErrorCode::kInvalidArgument, "--host: expected an address such as 127.0.0.1, 0.0.0.0 or ::, found '{}'", host);
  }
  const tcp::endpoint endpoint(address, static_cast<std::uint16_t>(port));
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error)
    fail(ErrorCode::kIo, "can't listen on {} port {}: {}; choose another with --port", host, port, error.message());
  acceptor.non_blocking(true);
}

void HttpServer::Impl::accept() {
  acceptor.async_accept([this](error_code error, tcp::socket socket) {
    // Also where the acceptor has been closed meanwhile: the client knows nothing of that.
    if (!error) take(std::move(socket));
    if (error == asio::error::operation_aborted || !acceptor.is_open()) return;
    if (!error) return accept();
    // Most likely no descriptors are left: wait for connections to end.
    accept_timer.expires_after(std::chrono::milliseconds(100));
    accept_timer.async_wait([this](error_code cancelled) {
      if (!cancelled) accept();
    });
  });
}

void HttpServer::Impl::take(tcp::socket socket) {
  if (connections.size() >= limits.connections + kTurnedAway) return;  // closed here
  const bool full = connections.size() >= limits.connections;
  const auto connection = std::make_shared<Connection>(*this, std::move(socket));
  full ? connection->turn_away() : connection->start();
}

void HttpServer::Impl::wait_for_signal() {
  signals.async_wait([this](error_code error, int signal) {
    if (error) return;
    callbacks.stop_asked(signal);
    wait_for_signal();
  });
}

void HttpServer::Impl::start_drain(std::chrono::milliseconds wait, std::chrono::milliseconds limit,
                                   std::function<void()> last) {
  if (draining) return;
  draining = true;
  linger = wait;
  const Clock::time_point now = Clock::now();
  linger_until = now + linger;
  deadline = now + limit;
  give_up = std::move(last);
  poll_drain();
}

void HttpServer::Impl::poll_drain() {
  const Clock::time_point now = Clock::now();
  if (now >= deadline && !gave_up) {
    gave_up = true;
    give_up();
  }
  const bool finished = handling == 0 && now >= linger_until;
  const bool over = now >= deadline + kLastAnswers;
  if (over || (closing && connections.empty())) {
    io.stop();
    return;
  }
  // A step a call, so that what the last one set off has arrived: handshakes end, accepted sockets reach their handler.
  if (refusing && !closing) {
    closing = true;
    accept_backlog();
  }
  if (!refusing && (finished || now >= deadline)) {
    refusing = true;
    refuse_handshakes();
  }
  // Whoever has just connected or been answered may be about to send a request.
  if (closing) close_idle(now >= deadline ? std::chrono::milliseconds(0) : linger);
  drain_timer.expires_after(kDrainPoll);
  drain_timer.async_wait([this](error_code error) {
    if (!error) poll_drain();
  });
}

/// From now on the system drops packets that would begin a new connection: clients try again, and find the port closed.
/// Without this a handshake could be finished between the last accept and the close, and its connection would be reset.
void HttpServer::Impl::refuse_handshakes() {
  constexpr std::uint32_t kFlagsOffset = 13, kSyn = 2, kWholePacket = 0xffffffff;  // in the TCP header
  sock_filter drop_syn[] = {
      BPF_STMT(BPF_LD | BPF_B | BPF_ABS, kFlagsOffset),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, kSyn, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, 0),
      BPF_STMT(BPF_RET | BPF_K, kWholePacket),
  };
  const sock_fprog program = {std::size(drop_syn), drop_syn};
  setsockopt(acceptor.native_handle(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

/// Connections whose handshake the system has finished are clients' accepted ones: they get an answer too.
void HttpServer::Impl::accept_backlog() {
  error_code error;
  while (true) {
    tcp::socket socket = acceptor.accept(error);
    if (error) break;
    take(std::move(socket));
  }
  acceptor.close(error);
}

void HttpServer::Impl::close_idle(std::chrono::milliseconds wait) {
  const std::vector<Connection*> all(connections.begin(), connections.end());
  for (Connection* connection : all) connection->close_if_idle(wait);
}

HttpServer::HttpServer(const std::string& host, int port, HttpLimits limits, HttpCallbacks callbacks)
    : impl_(std::make_unique<Impl>(limits, std::move(callbacks))) {
  impl_->listen(host, port);
  impl_->signals.add(SIGTERM);
  impl_->signals.add(SIGINT);
}

HttpServer::~HttpServer() = default;

int HttpServer::port() const { return impl_->acceptor.local_endpoint().port(); }

void HttpServer::run() {
  impl_->accept();
  impl_->wait_for_signal();
  impl_->io.run();
}

void HttpServer::drain(std::chrono::milliseconds linger, std::chrono::milliseconds deadline,
                       std::function<void()> give_up) {
  asio::post(impl_->io, [impl = impl_.get(), linger, deadline, give_up = std::move(give_up)]() mutable {
    impl->start_drain(linger, deadline, std::move(give_up));
  });
}

void HttpServer::post(std::function<void()> work) { asio::post(impl_->io, std::move(work)); }

}  // namespace sardonyx::server
