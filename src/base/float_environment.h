#pragma once

#include <cstdint>

namespace sardonyx {

/// Sets the calling thread's floating-point environment to the one that results are defined in (round to nearest,
/// denormals kept, no traps) and restores the caller's when it goes. Costs a few nanoseconds.
class ScopedFloatEnvironment {
 public:
  ScopedFloatEnvironment() noexcept;
  ~ScopedFloatEnvironment();
  ScopedFloatEnvironment(const ScopedFloatEnvironment&) = delete;
  ScopedFloatEnvironment& operator=(const ScopedFloatEnvironment&) = delete;

 private:
  std::uint64_t saved_;
};

}  // namespace sardonyx
