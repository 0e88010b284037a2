#pragma once

#include <string>

namespace sardonyx {

/// What the operating system lets this process use. Limits that are not set are infinity.
struct CpuBudget {
  int affinity;  ///< processors in the calling thread's affinity mask, at least 1
  double quota;  ///< CPUs by cgroup quota, such as 0.5; infinity without one
  int threads;   ///< min(affinity, quota rounded up), at least 1
};

/// Read when first asked, then kept.
const CpuBudget& cpu_budget();

/// cpu_budget().threads: how many threads are worth running.
int effective_cpus();

/// The CPU quota of this process's cgroup and of every cgroup above it (the smallest counts), version 1 or 2. `root` is put
/// before every path that is read, for tests. Infinity where there is no quota or nothing can be read.
double read_cgroup_cpu_quota(const std::string& root = "");

/// The memory limit in bytes, likewise; infinity without one.
double read_cgroup_memory_limit(const std::string& root = "");

/// ceil(quota) but at least 1 and at most `affinity`.
int threads_for(int affinity, double quota);

}  // namespace sardonyx
