#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>

#include "base/cgroup.h"
#include "base/cpu_info.h"
#include "base/function_ref.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(CpuInfo, NamesRoundTrip) {
  for (int i = 0; i < kIsaCount; ++i) EXPECT_EQ(parse_isa(name(static_cast<Isa>(i))), static_cast<Isa>(i));
  try {
    parse_isa("sse9");
    FAIL() << "an unknown name must be refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    for (int i = 0; i < kIsaCount; ++i) EXPECT_NE(error.message().find(name(static_cast<Isa>(i))), std::string::npos);
  }
}

TEST(CpuInfo, CurrentIsNotAboveDetected) { EXPECT_LE(current_isa(), detected_isa()); }

TEST(CpuInfo, CacheSizesArePlausible) {
  EXPECT_GE(cache_sizes().l1_data, 8u << 10);
  EXPECT_GE(cache_sizes().l2, cache_sizes().l1_data);
}

class Cgroup : public testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::TempDir() + "/cgroup_" + testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
  void write(const std::string& path, const std::string& content) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << content;
  }
  std::string root_;
};

TEST_F(Cgroup, NothingToRead) {
  EXPECT_EQ(read_cgroup_cpu_quota(root_), kInfinity);
  EXPECT_EQ(read_cgroup_memory_limit(root_), kInfinity);
}

TEST_F(Cgroup, Version2TakesTheSmallestOnTheWayUp) {
  write("/proc/self/cgroup", "0::/kubepods/pod1/c1\n");
  write("/proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n");
  write("/sys/fs/cgroup/kubepods/pod1/c1/cpu.max", "200000 100000\n");
  write("/sys/fs/cgroup/kubepods/pod1/cpu.max", "150000 100000\n");
  write("/sys/fs/cgroup/kubepods/cpu.max", "max 100000\n");
  write("/sys/fs/cgroup/kubepods/pod1/memory.max", "1073741824\n");
  write("/sys/fs/cgroup/kubepods/pod1/c1/memory.max", "max\n");
  EXPECT_DOUBLE_EQ(read_cgroup_cpu_quota(root_), 1.5);
  EXPECT_DOUBLE_EQ(read_cgroup_memory_limit(root_), 1073741824.0);
}

TEST_F(Cgroup, Version2OfAContainerNamespace) {
  write("/proc/self/cgroup", "0::/\n");
  write("/proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup ro - cgroup2 cgroup rw,nsdelegate\n");
  write("/sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_DOUBLE_EQ(read_cgroup_cpu_quota(root_), 0.5);
}

TEST_F(Cgroup, Version1InsideAContainer) {
  write("/proc/self/cgroup", "5:memory:/docker/77\n4:cpu,cpuacct:/docker/77\n0::/system\n");
  write("/proc/self/mountinfo",
        "40 32 0:35 /docker/77 /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n"
        "41 32 0:36 /docker/77 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
  write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "250000\n");
  write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_DOUBLE_EQ(read_cgroup_cpu_quota(root_), 2.5);
  EXPECT_EQ(read_cgroup_memory_limit(root_), kInfinity);
}

TEST_F(Cgroup, Version1WithoutQuota) {
  write("/proc/self/cgroup", "4:cpu,cpuacct:/a/b\n");
  write("/proc/self/mountinfo", "40 32 0:35 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n");
  write("/sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us", "-1\n");
  write("/sys/fs/cgroup/cpu/a/b/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(read_cgroup_cpu_quota(root_), kInfinity);
}

TEST(CpuBudget, ThreadsRoundTheQuotaUp) {
  EXPECT_EQ(threads_for(8, kInfinity), 8);
  EXPECT_EQ(threads_for(8, 0.5), 1);
  EXPECT_EQ(threads_for(8, 1.0), 1);
  EXPECT_EQ(threads_for(8, 1.01), 2);
  EXPECT_EQ(threads_for(8, 64.0), 8);
  EXPECT_EQ(threads_for(0, kInfinity), 1);
  EXPECT_GE(effective_cpus(), 1);
  EXPECT_LE(effective_cpus(), cpu_budget().affinity);
}

int apply(FunctionRef<int(int)> f, int x) { return f(x); }
int twice(int x) { return 2 * x; }

TEST(FunctionRef, CallsLambdasAndFunctions) {
  int calls = 0;
  EXPECT_EQ(apply([&](int x) { return x + ++calls; }, 4), 5);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(apply(twice, 21), 42);
}

}  // namespace
}  // namespace sardonyx
