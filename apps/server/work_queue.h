#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace sardonyx::server {

/// A bounded first-in, first-out queue between threads.
template <typename Job>
class WorkQueue {
 public:
  explicit WorkQueue(std::size_t most) : most_(most) {}

  /// False where the queue is full or closed: the job is untouched then.
  bool push(Job& job) {
    {
      const std::lock_guard lock(mutex_);
      if (closed_ || jobs_.size() >= most_) return false;
      jobs_.push_back(std::move(job));
    }
    changed_.notify_one();
    return true;
  }

  /// Waits for a job; nothing once the queue is closed and empty.
  std::optional<Job> pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return closed_ || !jobs_.empty(); });
    if (jobs_.empty()) return std::nullopt;
    std::optional<Job> job(std::move(jobs_.front()));
    jobs_.pop_front();
    return job;
  }

  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return jobs_.size();
  }

  /// Takes no more jobs; those that wait are still given out.
  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  std::size_t most_;
  bool closed_ = false;
};

}  // namespace sardonyx::server
