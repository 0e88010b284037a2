#include "tests/conformance/workers.h"

#include <csignal>
#include <gtest/gtest.h>
#include <unistd.h>

namespace sardonyx::conformance {
namespace {

TEST(Workers, DeadAndSlowJobsLoseNothing) {
  const auto job = [](std::size_t i) -> std::string {
    if (i == 3) _exit(7);
    if (i == 4) raise(SIGKILL);
    if (i == 8) sleep(60);
    return "job " + std::to_string(i);
  };
  std::size_t seen = 0;
  const std::vector<std::string> texts = run_in_workers(12, 3, 1.0, job, [&](std::size_t done) { seen = done; });
  ASSERT_EQ(texts.size(), 12u);
  EXPECT_EQ(seen, 12u);
  EXPECT_EQ(texts[3], "the process ended with status 7");
  EXPECT_EQ(texts[4], "the process died: Killed");
  EXPECT_EQ(texts[8], "took longer than 1 s");
  for (std::size_t i : {0, 1, 2, 5, 6, 7, 9, 10, 11}) EXPECT_EQ(texts[i], "job " + std::to_string(i));
}

TEST(Workers, NoJobs) {
  EXPECT_TRUE(run_in_workers(0, 2, 1.0, [](std::size_t) { return ""; }, [](std::size_t) {}).empty());
}

}  // namespace
}  // namespace sardonyx::conformance
