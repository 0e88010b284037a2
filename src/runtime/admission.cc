#include "runtime/admission.h"

#include "base/fail.h"
#include "base/thread_pool.h"

namespace sardonyx::runtime {

AdmissionGate& AdmissionGate::global() {
  static AdmissionGate gate(ThreadPool::global().threads());
  return gate;
}

void AdmissionGate::enter(const std::atomic<bool>* cancelled, std::chrono::steady_clock::time_point deadline) {
  // A flag that somebody sets does not wake us up, so waiting callers look at it this often.
  constexpr auto kPollCancelled = std::chrono::milliseconds(20);
  std::unique_lock lock(mutex_);
  if (inside_ < places_ && waiting_.empty()) {
    ++inside_;
    return;
  }
  const auto me = waiting_.insert(waiting_.end(), &lock);
  while (inside_ >= places_ || waiting_.begin() != me) {
    const auto now = std::chrono::steady_clock::now();
    const bool stop = cancelled && cancelled->load(std::memory_order_relaxed);
    if (stop || now >= deadline) {
      waiting_.erase(me);
      changed_.notify_all();
      if (stop) fail(ErrorCode::kCancelled, "the run was cancelled while it waited for its turn");
      fail(ErrorCode::kDeadlineExceeded, "the run's deadline passed while it waited for its turn");
    }
    changed_.wait_until(lock, std::min(deadline, now + kPollCancelled));
  }
  waiting_.erase(me);
  ++inside_;
  changed_.notify_all();
}

void AdmissionGate::leave() {
  {
    const std::lock_guard lock(mutex_);
    --inside_;
  }
  changed_.notify_all();
}

}  // namespace sardonyx::runtime
