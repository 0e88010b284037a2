#include "apps/server/process_usage.h"

#include <gtest/gtest.h>

namespace sardonyx::server {
namespace {

TEST(ProcessUsage, CpuStatOfBothVersions) {
  ProcessUsage second, first;
  parse_cpu_stat("usage_usec 5000\nnr_periods 10\nnr_throttled 3\nthrottled_usec 2500000\n", second);
  EXPECT_EQ(second.throttled_periods, 3);
  EXPECT_DOUBLE_EQ(second.throttled_seconds, 2.5);
  parse_cpu_stat("nr_periods 10\nnr_throttled 4\nthrottled_time 1500000000\n", first);
  EXPECT_EQ(first.throttled_periods, 4);
  EXPECT_DOUBLE_EQ(first.throttled_seconds, 1.5);
}

TEST(ProcessUsage, OfThisProcess) {
  const ProcessUsage usage = read_process_usage();
  EXPECT_GT(usage.resident_bytes, 1e5);
  EXPECT_GE(usage.cpu_seconds, 0);
}

}  // namespace
}  // namespace sardonyx::server
