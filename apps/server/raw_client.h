#pragma once

#include <string>
#include <string_view>

namespace sardonyx::server {

/// A blocking TCP client for tests, which sends exactly the bytes it is told to. Waits of over ten seconds fail.
class RawClient {
 public:
  explicit RawClient(int port);
  ~RawClient();
  RawClient(RawClient&& other) noexcept : file_(other.file_), pending_(std::move(other.pending_)) { other.file_ = -1; }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  bool connected() const { return file_ >= 0; }
  /// False once the server has closed.
  bool send(std::string_view bytes);
  /// One response: its header, and a body of its Content-Length. Empty when the server closes before its end.
  std::string receive();
  /// Reads until the server closes.
  std::string receive_all();
  /// Ends the sending direction.
  void finish_sending();

 private:
  bool fill();

  int file_ = -1;
  std::string pending_;
};

/// "POST /analyze" with this body.
std::string post(std::string_view body, std::string_view headers = "");
std::string get(std::string_view path, std::string_view headers = "");
int status_of(std::string_view response);
std::string body_of(std::string_view response);

}  // namespace sardonyx::server
