#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "provider/kernel.h"

namespace sardonyx::runtime {

/// One node's run.
struct ProfileEvent {
  std::string name, op_type, provider;
  std::int64_t start_ns = 0;  ///< since the profiler was made
  std::int64_t duration_ns = 0;
  std::uint64_t thread = 0;
  std::int64_t bytes = 0;  ///< of inputs and outputs together
  std::string shapes;      ///< "float[1,30,768],float[768] -> float[1,30,768]"
};

/// Collects events of all runs of a session. Thread-safe.
class Profiler {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kMaxEvents = 1'000'000;  ///< later ones are counted, not kept

  void record(ProfileEvent event);
  std::int64_t since_start(Clock::time_point time) const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time - start_).count();
  }
  std::vector<ProfileEvent> events() const;
  /// Chrome's trace event format, microseconds.
  std::string to_chrome_trace() const;

 private:
  const Clock::time_point start_ = Clock::now();
  mutable std::mutex mutex_;
  std::vector<ProfileEvent> events_;
  std::size_t dropped_ = 0;
};

/// Shapes and bytes of a call, for an event.
void describe_call(const provider::RunContext& context, ProfileEvent& event);

}  // namespace sardonyx::runtime
