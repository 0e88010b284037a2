#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace sardonyx::server {

/// The service's metrics in Prometheus's text form. All series exist from the start, at zero. Thread-safe.
class Metrics {
 public:
  Metrics();
  ~Metrics();

  void request_done(const std::string& route, int status, double seconds);
  void set_connections(std::size_t connections);
  void set_ready(bool ready);
  void set_queue_depth(std::size_t depth);
  /// One text went through the model: times in seconds.
  void text_done(double queued, double tokenizing, double running, std::size_t tokens, bool truncated);

  /// The whole page, with memory and throttling read now.
  std::string text() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sardonyx::server
