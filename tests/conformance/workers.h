#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace sardonyx::conformance {

/// Runs job(0) ... job(count - 1) in `workers` child processes and returns their texts in order. A job whose process
/// dies or takes longer than `timeout_s` seconds gives a text that says so; the others go on in a new process. The
/// caller must have no threads. `progress` is called after each job with how many are done. Throws Error(kIo) when no
/// process can be made.
std::vector<std::string> run_in_workers(std::size_t count, int workers, double timeout_s,
                                        const std::function<std::string(std::size_t)>& job,
                                        const std::function<void(std::size_t)>& progress);

}  // namespace sardonyx::conformance
