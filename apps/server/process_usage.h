#pragma once

#include <string>

namespace sardonyx::server {

/// What the process uses now. What can't be read is 0.
struct ProcessUsage {
  double resident_bytes = 0;
  double cpu_seconds = 0;
  double throttled_periods = 0;
  double throttled_seconds = 0;
};
ProcessUsage read_process_usage();

/// Sets the two throttling numbers from the text of a cgroup's cpu.stat, version 1 (nanoseconds) or 2 (microseconds).
void parse_cpu_stat(const std::string& text, ProcessUsage& usage);

}  // namespace sardonyx::server
