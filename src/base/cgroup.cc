#include "base/cgroup.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

namespace sardonyx {
namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

std::vector<std::string> read_lines(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool contains(const std::vector<std::string>& parts, std::string_view wanted) {
  return std::find(parts.begin(), parts.end(), wanted) != parts.end();
}

/// A number, or unlimited for "max", nonsense and v1's "-1".
double parse_limit(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return end == text.c_str() || !(value > 0) ? kUnlimited : value;
}

std::optional<std::string> first_line(const std::string& path) {
  std::vector<std::string> lines = read_lines(path);
  if (lines.empty()) return std::nullopt;
  return lines.front();
}

struct Hierarchy {
  std::string mount;  ///< where it is mounted
  std::string path;   ///< this process's cgroup below the mount, "" or "/a/b"
  bool v2;
};

/// This process's path in the hierarchy of `controller` ("" for v2) by /proc/self/cgroup.
std::optional<std::string> own_path(const std::vector<std::string>& cgroup_lines, std::string_view controller) {
  for (const std::string& line : cgroup_lines) {  // "4:cpu,cpuacct:/docker/1234"
    const std::vector<std::string> parts = split(line, ':');
    if (parts.size() < 3) continue;
    if (controller.empty() ? parts[0] == "0" && parts[1].empty() : contains(split(parts[1], ','), controller)) {
      return line.substr(parts[0].size() + parts[1].size() + 2);
    }
  }
  return std::nullopt;
}

/// The hierarchies that could limit `controller`: its v1 mount and the v2 mount.
std::vector<Hierarchy> find_hierarchies(const std::string& root, std::string_view controller) {
  std::vector<Hierarchy> found;
  const std::vector<std::string> cgroup_lines = read_lines(root + "/proc/self/cgroup");
  for (const std::string& line : read_lines(root + "/proc/self/mountinfo")) {
    // "36 35 98:0 /mount-root /mount-point options - cgroup2 cgroup2 super-options"
    const std::vector<std::string> parts = split(line, ' ');
    const auto dash = std::find(parts.begin(), parts.end(), "-");
    if (parts.size() < 5 || parts.end() - dash < 4) continue;
    const bool v2 = dash[1] == "cgroup2";
    if (!v2 && !(dash[1] == "cgroup" && contains(split(dash[3], ','), controller))) continue;
    std::string path = own_path(cgroup_lines, v2 ? "" : controller).value_or("/");
    // In a container the mount often shows only its own part of the tree: the path is then below the mount's root.
    const std::string& mount_root = parts[3];
    if (mount_root != "/" && path.compare(0, mount_root.size(), mount_root) == 0) path.erase(0, mount_root.size());
    if (path == "/" || path.find("/..") != std::string::npos) path.clear();
    found.push_back({root + parts[4], path, v2});
  }
  return found;
}

/// The smallest limit on the way from the process's own cgroup up to the mount.
template <typename ReadLimit>
double smallest_limit(const Hierarchy& hierarchy, ReadLimit read_limit) {
  double smallest = kUnlimited;
  for (std::string path = hierarchy.path;; path.erase(path.rfind('/'))) {
    smallest = std::min(smallest, read_limit(hierarchy.mount + path));
    if (path.empty() || path.rfind('/') == std::string::npos) return smallest;
  }
}

double cpu_limit_v2(const std::string& directory) {
  const std::optional<std::string> line = first_line(directory + "/cpu.max");  // "50000 100000" or "max 100000"
  if (!line) return kUnlimited;
  const std::vector<std::string> parts = split(*line, ' ');
  return parts.size() < 2 ? kUnlimited : parse_limit(parts[0]) / parse_limit(parts[1]);
}

double cpu_limit_v1(const std::string& directory) {
  const std::optional<std::string> quota = first_line(directory + "/cpu.cfs_quota_us");
  const std::optional<std::string> period = first_line(directory + "/cpu.cfs_period_us");
  return quota && period ? parse_limit(*quota) / parse_limit(*period) : kUnlimited;
}

double memory_limit(const std::string& directory, bool v2) {
  const std::optional<std::string> line = first_line(directory + (v2 ? "/memory.max" : "/memory.limit_in_bytes"));
  const double limit = line ? parse_limit(*line) : kUnlimited;
  return limit > 0x1p62 ? kUnlimited : limit;  // v1 writes "no limit" as a number of about 2^63
}

int affinity_count() {
#ifdef __linux__
  // The kernel refuses a mask smaller than its own, so grow it.
  for (int cpus = 1024; cpus <= 1 << 20; cpus *= 2) {
    cpu_set_t* set = CPU_ALLOC(cpus);
    if (set == nullptr) break;
    const std::size_t size = CPU_ALLOC_SIZE(cpus);
    const bool read = sched_getaffinity(0, size, set) == 0;
    const int count = read ? CPU_COUNT_S(size, set) : 0;
    CPU_FREE(set);
    if (read) return std::max(count, 1);
  }
#endif
  return static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

}  // namespace

double read_cgroup_cpu_quota(const std::string& root) {
  double smallest = kUnlimited;
  for (const Hierarchy& hierarchy : find_hierarchies(root, "cpu")) {
    const double limit = smallest_limit(hierarchy, hierarchy.v2 ? cpu_limit_v2 : cpu_limit_v1);
    if (limit > 0) smallest = std::min(smallest, limit);  // a quota over an unreadable period divides to 0
  }
  return smallest;
}

double read_cgroup_memory_limit(const std::string& root) {
  double smallest = kUnlimited;
  for (const Hierarchy& hierarchy : find_hierarchies(root, "memory")) {
    const auto read = [&](const std::string& directory) { return memory_limit(directory, hierarchy.v2); };
    smallest = std::min(smallest, smallest_limit(hierarchy, read));
  }
  return smallest;
}

int threads_for(int affinity, double quota) {
  if (!(quota < affinity)) return std::max(affinity, 1);
  return std::max(1, static_cast<int>(std::ceil(quota - 1e-6)));
}

const CpuBudget& cpu_budget() {
  static const CpuBudget budget = [] {
    const int affinity = affinity_count();
    const double quota = read_cgroup_cpu_quota();
    return CpuBudget{affinity, quota, threads_for(affinity, quota)};
  }();
  return budget;
}

int effective_cpus() { return cpu_budget().threads; }

}  // namespace sardonyx
