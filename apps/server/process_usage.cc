#include "apps/server/process_usage.h"

#include <fstream>
#include <sstream>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

namespace sardonyx::server {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

double read_resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double total = 0, resident = 0;
  file >> total >> resident;
  return file ? resident * static_cast<double>(sysconf(_SC_PAGESIZE)) : 0;
}

/// cpu.stat of the process's cgroup; in a container its own cgroup is the root of what it sees.
std::string read_cpu_stat() {
  std::vector<std::string> places;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1), path = line.substr(second + 1);
    if (controllers.empty()) places.push_back("/sys/fs/cgroup" + path);
    if (controllers == "cpu" || controllers == "cpu,cpuacct") places.push_back("/sys/fs/cgroup/cpu" + path);
  }
  places.push_back("/sys/fs/cgroup");
  places.push_back("/sys/fs/cgroup/cpu");
  for (const std::string& place : places) {
    std::ifstream file(place + "/cpu.stat");
    std::stringstream text;
    if (file && text << file.rdbuf() && text.str().find("nr_throttled") != std::string::npos) return text.str();
  }
  return {};
}

}  // namespace

void parse_cpu_stat(const std::string& text, ProcessUsage& usage) {
  std::istringstream lines(text);
  std::string key;
  double value = 0;
  while (lines >> key >> value) {
    if (key == "nr_throttled") usage.throttled_periods = value;
    if (key == "throttled_usec") usage.throttled_seconds = value * 1e-6;
    if (key == "throttled_time") usage.throttled_seconds = value * 1e-9;
  }
}

ProcessUsage read_process_usage() {
  ProcessUsage usage;
  usage.resident_bytes = read_resident_bytes();
  rusage times = {};
  if (getrusage(RUSAGE_SELF, &times) == 0) usage.cpu_seconds = seconds(times.ru_utime) + seconds(times.ru_stime);
  parse_cpu_stat(read_cpu_stat(), usage);
  return usage;
}

}  // namespace sardonyx::server
