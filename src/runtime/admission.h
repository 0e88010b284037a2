#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>

namespace sardonyx::runtime {

/// Lets at most so many runs of the process go on at once; the others wait in the order they came. Thread-safe.
class AdmissionGate {
 public:
  explicit AdmissionGate(int places) : places_(places) {}
  /// The process's gate, with a place per usable CPU.
  static AdmissionGate& global();

  /// A place, given back on destruction.
  class Place {
   public:
    explicit Place(AdmissionGate& gate) : gate_(&gate) {}
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place() { gate_->leave(); }

   private:
    AdmissionGate* gate_;
  };

  /// Waits for a place. Throws kCancelled or kDeadlineExceeded when that comes first.
  void enter(const std::atomic<bool>* cancelled, std::chrono::steady_clock::time_point deadline);
  void leave();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<const void*> waiting_;  ///< one entry a waiting caller, first come first
  int places_;
  int inside_ = 0;
};

}  // namespace sardonyx::runtime
