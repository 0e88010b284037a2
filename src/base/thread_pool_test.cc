#include "base/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cfenv>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace sardonyx {
namespace {

std::vector<int> count_visits(ThreadPool& pool, std::size_t n, std::size_t chunk, int max_threads) {
  std::vector<std::atomic<int>> visits(n);
  pool.parallel_for(n, chunk, max_threads, [&](std::size_t begin, std::size_t end) {
    EXPECT_LT(begin, end);
    EXPECT_EQ(begin % chunk, 0u);
    EXPECT_EQ(end, std::min(begin + chunk, n));
    for (std::size_t i = begin; i < end; ++i) visits[i].fetch_add(1);
  });
  return std::vector<int>(visits.begin(), visits.end());
}

TEST(ThreadPool, VisitsEveryChunkOnce) {
  for (int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    for (std::size_t n : {0, 1, 2, 7, 64, 1000}) {
      for (std::size_t chunk : {1, 3, 64, 5000}) {
        for (int max_threads : {0, 1, 2, 100}) {
          EXPECT_EQ(count_visits(pool, n, chunk, max_threads), std::vector<int>(n, 1)) << threads << " " << n << " " << chunk;
        }
      }
    }
  }
}

TEST(ThreadPool, ManyShortLoops) {
  ThreadPool pool(4);
  std::size_t total = 0;
  for (int round = 0; round < 20000; ++round) {
    std::atomic<std::size_t> sum{0};
    pool.parallel_for(16, 1, 4, [&](std::size_t begin, std::size_t) { sum.fetch_add(begin, std::memory_order_relaxed); });
    total += sum.load();
  }
  EXPECT_EQ(total, 20000u * 120u);
}

TEST(ThreadPool, UsesMoreThanOneThreadAndHonoursTheLimit) {
  ThreadPool pool(4);
  for (int limit : {1, 2, 4}) {
    std::mutex mutex;
    std::set<std::thread::id> seen;
    for (int round = 0; round < 50; ++round) {
      pool.parallel_for(64, 1, limit, [&](std::size_t, std::size_t) {
        std::this_thread::sleep_for(std::chrono::microseconds(20));
        const std::lock_guard lock(mutex);
        seen.insert(std::this_thread::get_id());
      });
    }
    if (limit == 1) {
      EXPECT_EQ(seen, std::set{std::this_thread::get_id()});
    } else {
      EXPECT_GT(seen.size(), 1u);
    }
  }
}

TEST(ThreadPool, NeverMoreThreadsInOneLoopThanAllowed) {
  ThreadPool pool(8);
  for (int round = 0; round < 300; ++round) {
    std::atomic<int> inside{0};
    std::atomic<int> most{0};
    pool.parallel_for(40, 1, 3, [&](std::size_t, std::size_t) {
      const int now = inside.fetch_add(1) + 1;
      int seen = most.load();
      while (now > seen && !most.compare_exchange_weak(seen, now)) {
      }
      std::this_thread::yield();
      inside.fetch_sub(1);
    });
    ASSERT_LE(most.load(), 3);
  }
}

TEST(ThreadPool, ParticipantsHaveNumbersOfTheirOwn) {
  ThreadPool pool(4);
  for (int round = 0; round < 500; ++round) {
    std::atomic<int> busy[3] = {};
    std::atomic<int> wrong{0};
    pool.parallel_for_participants(40, 1, 3, [&](std::size_t, std::size_t, int participant) {
      if (participant < 0 || participant >= 3 || busy[participant].exchange(1) != 0) {
        wrong.fetch_add(1);
        return;
      }
      std::this_thread::yield();
      busy[participant].store(0);
    });
    ASSERT_EQ(wrong.load(), 0);
  }
}

TEST(ThreadPool, CallersAtOnce) {
  ThreadPool pool(3);
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int c = 0; c < 40; ++c) {  // more than the loops a pool runs at once
    callers.emplace_back([&, c] {
      for (int round = 0; round < 100; ++round) {
        std::vector<int> out(50 + static_cast<std::size_t>(c), 0);
        pool.parallel_for(out.size(), 4, 3, [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) out[i] += static_cast<int>(i) + c;
        });
        for (std::size_t i = 0; i < out.size(); ++i) wrong += out[i] != static_cast<int>(i) + c;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(ThreadPool, NestedLoopsAreSerial) {
  ThreadPool pool(4);
  std::atomic<int> total{0};
  EXPECT_FALSE(ThreadPool::in_parallel_loop());
  pool.parallel_for(8, 1, 4, [&](std::size_t, std::size_t) {
    EXPECT_TRUE(ThreadPool::in_parallel_loop());
    const std::thread::id outer = std::this_thread::get_id();
    pool.parallel_for(10, 1, 4, [&](std::size_t, std::size_t) {
      EXPECT_EQ(std::this_thread::get_id(), outer);
      total.fetch_add(1);
    });
  });
  EXPECT_EQ(total.load(), 80);
  EXPECT_FALSE(ThreadPool::in_parallel_loop());
}

TEST(ThreadPool, FirstExceptionWinsAndTheRestIsSkipped) {
  ThreadPool pool(4);
  for (int threads : {1, 4}) {
    for (int round = 0; round < 200; ++round) {
      std::atomic<int> done{0};
      try {
        pool.parallel_for(1000, 1, threads, [&](std::size_t begin, std::size_t) {
          if (begin % 10 == 3) throw std::runtime_error("chunk");
          done.fetch_add(1);
        });
        FAIL() << "the exception was lost";
      } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "chunk");
      }
      EXPECT_LT(done.load(), 900);
    }
  }
  EXPECT_EQ(count_visits(pool, 100, 1, 4), std::vector<int>(100, 1)) << "the pool works on after an exception";
  EXPECT_FALSE(ThreadPool::in_parallel_loop());
}

TEST(ThreadPool, WorkersRoundToNearest) {
  ASSERT_EQ(std::fesetround(FE_UPWARD), 0);
  ThreadPool pool(3);
  std::fesetround(FE_TONEAREST);
  std::atomic<int> wrong{0};
  for (int round = 0; round < 50; ++round) {
    pool.parallel_for(30, 1, 3, [&](std::size_t, std::size_t) {
      volatile float one = 1.0f;
      volatile float little = 1e-9f;
      wrong += one + little != 1.0f;  // rounded upward it would be more
    });
  }
  EXPECT_EQ(wrong.load(), 0);
}

TEST(ThreadPool, GlobalHasTheEffectiveCpus) {
  EXPECT_GE(ThreadPool::global().threads(), 1);
  EXPECT_EQ(&ThreadPool::global(), &ThreadPool::global());
}

TEST(Parallel, WithoutAPoolCutsTheSameChunks) {
  std::vector<std::pair<std::size_t, std::size_t>> chunks;
  Parallel{}.parallel_for(10, 4, [&](std::size_t begin, std::size_t end) { chunks.emplace_back(begin, end); });
  EXPECT_EQ(chunks, (std::vector<std::pair<std::size_t, std::size_t>>{{0, 4}, {4, 8}, {8, 10}}));
}

#if !defined(__SANITIZE_THREAD__)  // ThreadSanitizer refuses new threads after a fork
TEST(ThreadPool, WorksInAForkedChild) {
  ThreadPool pool(4);
  EXPECT_EQ(count_visits(pool, 100, 1, 4), std::vector<int>(100, 1));
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::mutex mutex;
    std::set<std::thread::id> seen;
    for (int round = 0; round < 50; ++round) {
      pool.parallel_for(64, 1, 4, [&](std::size_t, std::size_t) {
        std::this_thread::sleep_for(std::chrono::microseconds(20));
        const std::lock_guard lock(mutex);
        seen.insert(std::this_thread::get_id());
      });
    }
    _exit(seen.size() > 1 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(count_visits(pool, 100, 1, 4), std::vector<int>(100, 1));
}
#endif

}  // namespace
}  // namespace sardonyx
