// What a run costs besides its kernels: once shapes are bound, nothing is allocated and no mutex is taken per node.
#include <gtest/gtest.h>

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "api/testing.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SARDONYX_COUNTS_CALLS 0  // the sanitizers have these functions for themselves
#else
#define SARDONYX_COUNTS_CALLS 1
#endif

#if SARDONYX_COUNTS_CALLS
namespace {
std::atomic<bool> counting{false};
std::atomic<std::int64_t> allocations{0}, locks{0};

void* counted_allocation(std::size_t bytes, std::size_t alignment) {
  if (counting) ++allocations;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  return alignment <= alignof(std::max_align_t) ? std::malloc(bytes ? bytes : 1) : std::aligned_alloc(alignment, rounded ? rounded : alignment);
}
void* or_throw(void* memory) {
  if (!memory) throw std::bad_alloc();
  return memory;
}
}  // namespace

void* operator new(std::size_t bytes) { return or_throw(counted_allocation(bytes, 1)); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return counted_allocation(bytes, 1); }
void* operator new(std::size_t bytes, std::align_val_t alignment) { return or_throw(counted_allocation(bytes, static_cast<std::size_t>(alignment))); }
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return counted_allocation(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) {
  using Lock = int (*)(pthread_mutex_t*);
  static const auto real = reinterpret_cast<Lock>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  if (counting) ++locks;
  return real(mutex);
}
#endif

namespace sardonyx::api {
namespace {

TEST(RunCost, NothingIsAllocatedOrLockedPerNode) {
#if !SARDONYX_COUNTS_CALLS
  GTEST_SKIP() << "a sanitizer counts in our place";
#else
  const Session session = Session::load(testing::sentiment_model());
  const NamedValues inputs = testing::sentiment_inputs(2, 24);
  for (int i = 0; i < 3; ++i) session.run(inputs);
  allocations = 0;
  locks = 0;
  counting = true;
  const std::vector<Value> outputs = session.run(inputs);
  counting = false;
  // The model has about 200 nodes. What is left belongs to the run as a whole: arranging its inputs and owning its output.
  EXPECT_LE(allocations, 16);
  EXPECT_LE(locks, 8);
  EXPECT_GT(allocations, 0) << "the counters count nothing";
  EXPECT_GT(locks, 0) << "the counters count nothing";
#endif
}

TEST(RunCost, MemoryDoesNotGrowWithTheVarietyOfShapes) {
  const Session session = Session::load(testing::sentiment_model());
  session.run(testing::sentiment_inputs(2, 64));
  const auto resident_kib = [] {
    long pages = 0, unused = 0;
    FILE* file = std::fopen("/proc/self/statm", "r");
    if (!file || std::fscanf(file, "%ld %ld", &unused, &pages) != 2) pages = 0;
    if (file) std::fclose(file);
    return pages * 4;
  };
  for (std::int64_t length = 1; length <= 64; ++length) session.run(testing::sentiment_inputs(2, length));
  const long before = resident_kib();
  for (std::int64_t round = 0; round < 3; ++round) {
    for (std::int64_t length = 1; length <= 64; ++length) session.run(testing::sentiment_inputs(2, length));
  }
  EXPECT_LE(resident_kib() - before, 4096);
}

}  // namespace
}  // namespace sardonyx::api
