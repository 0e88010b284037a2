#pragma once

#include <cstddef>
#include <memory>

#include "base/function_ref.h"

namespace sardonyx {

/// Threads that help callers with their loops. One per process (global()); tests make their own.
///
/// The calling thread works too and helps only its own loop, so a pool of N threads starts N - 1 workers. Loops of several
/// callers may run at once; a loop inside a loop's body runs serially. Nothing is allocated or locked per loop. Workers spin
/// for some tens of microseconds for the next loop and then sleep; where the process has less than one CPU they never spin.
/// After fork() the child gets workers of its own with its first loop.
class ThreadPool {
 public:
  /// `threads` counts the caller: at least 1.
  explicit ThreadPool(int threads);
  /// No loop may be running.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// The process's pool, of effective_cpus() threads. Never destroyed.
  static ThreadPool& global();

  int threads() const { return threads_; }

  /// Calls body(begin, end) once for every chunk [i * chunk, min((i + 1) * chunk, n)), on up to `max_threads` threads, the
  /// caller included, and returns when all are done. Chunks run in any order, each exactly once, cut the same way whatever
  /// the number of threads. When a body throws, chunks not yet begun are skipped and the first exception is rethrown here.
  /// chunk 0 counts as 1.
  void parallel_for(std::size_t n, std::size_t chunk, int max_threads, FunctionRef<void(std::size_t, std::size_t)> body);

  /// The same; body(begin, end, participant) also gets the number of the thread in this loop: 0 for the caller, below
  /// min(max_threads, threads()), never the same for two threads at once. For indexing per-thread workspace.
  void parallel_for_participants(std::size_t n, std::size_t chunk, int max_threads,
                                 FunctionRef<void(std::size_t, std::size_t, int)> body);

  /// True in a body of a parallel loop: a loop started now would be serial.
  static bool in_parallel_loop();

 private:
  struct Job;
  struct Impl;

  int threads_;
  std::unique_ptr<Impl> impl_;
};

/// How a kernel may use threads. Kernels take it by value; the result never depends on it.
struct Parallel {
  ThreadPool* pool = nullptr;  ///< null: the calling thread only
  int max_threads = 1;         ///< at most this many, the caller included

  /// How many threads a loop could use now.
  int threads() const {
    if (pool == nullptr || ThreadPool::in_parallel_loop()) return 1;
    return max_threads < pool->threads() ? (max_threads < 1 ? 1 : max_threads) : pool->threads();
  }

  /// ThreadPool::parallel_for, or the same chunks in order on the calling thread.
  void parallel_for(std::size_t n, std::size_t chunk, FunctionRef<void(std::size_t, std::size_t)> body) const;
  /// With the participant's number, which is below max(1, max_threads).
  void parallel_for_participants(std::size_t n, std::size_t chunk, FunctionRef<void(std::size_t, std::size_t, int)> body) const;
};

}  // namespace sardonyx
