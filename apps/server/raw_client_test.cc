#include "apps/server/raw_client.h"

#include <arpa/inet.h>
#include <cstdlib>
#include <fmt/core.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

namespace sardonyx::server {

RawClient::RawClient(int port) {
  file_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval limit = {10, 0};
  setsockopt(file_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  setsockopt(file_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(file_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0) return;
  close(file_);
  file_ = -1;
}

RawClient::~RawClient() {
  if (file_ >= 0) close(file_);
}

bool RawClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(file_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

bool RawClient::fill() {
  char data[4096];
  const ssize_t n = recv(file_, data, sizeof(data), 0);
  if (n <= 0) return false;
  pending_.append(data, static_cast<std::size_t>(n));
  return true;
}

std::string RawClient::receive() {
  std::size_t end = 0;
  while ((end = pending_.find("\r\n\r\n")) == std::string::npos) {
    if (!fill()) return {};
  }
  std::size_t size = end + 4;
  if (const std::size_t at = pending_.find("Content-Length: "); at < end) {
    size += static_cast<std::size_t>(std::atoll(pending_.c_str() + at + 16));
  }
  while (pending_.size() < size) {
    if (!fill()) return {};
  }
  const std::string response = pending_.substr(0, size);
  pending_.erase(0, size);
  return response;
}

std::string RawClient::receive_all() {
  while (fill()) {
  }
  return std::move(pending_);
}

void RawClient::finish_sending() { shutdown(file_, SHUT_WR); }

std::string post(std::string_view body, std::string_view headers) {
  return fmt::format("POST /analyze HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n{}\r\n{}", body.size(), headers, body);
}

std::string get(std::string_view path, std::string_view headers) {
  return fmt::format("GET {} HTTP/1.1\r\nHost: x\r\n{}\r\n", path, headers);
}

int status_of(std::string_view response) {
  return response.starts_with("HTTP/1.1 ") ? std::atoi(std::string(response.substr(9, 3)).c_str()) : 0;
}

std::string body_of(std::string_view response) {
  const std::size_t at = response.find("\r\n\r\n");
  return at == std::string_view::npos ? "" : std::string(response.substr(at + 4));
}

}  // namespace sardonyx::server
