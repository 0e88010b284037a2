#include "base/thread_pool.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <climits>
#include <exception>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/cgroup.h"
#include "base/float_environment.h"
#include "base/futex.h"

namespace sardonyx {
namespace {

constexpr int kMaxRanges = 64;  // participants beyond it share ranges
constexpr int kMaxJobs = 32;    // loops that run at once; one more is serial
constexpr int kWorkerSpins = 600;  // turns of spin_pause, some tens of microseconds
constexpr int kJoinSpins = 400;

// A job's state word: how many workers are inside, and these flags.
constexpr std::uint32_t kHelperMask = 0xffff;
constexpr std::uint32_t kOwned = 1u << 16;    // a caller has this job
constexpr std::uint32_t kOpen = 1u << 17;     // workers may enter
constexpr std::uint32_t kWaiting = 1u << 18;  // the caller sleeps until the last worker leaves

thread_local bool t_in_loop = false;

// Counts forks on the child's side; a pool of an older generation has lost its workers.
std::atomic<std::uint32_t> g_fork_generation{0};

void register_fork_handler() {
  static const int registered = pthread_atfork(nullptr, nullptr, [] { g_fork_generation.fetch_add(1); });
  (void)registered;
}

struct alignas(64) Range {
  std::atomic<std::size_t> next{0};  // next chunk to take
  std::size_t end = 0;
};

class LoopScope {
 public:
  LoopScope() { t_in_loop = true; }
  ~LoopScope() { t_in_loop = false; }
};

}  // namespace

// One running loop. Lives in the pool, so that a worker that looks at it late never touches freed memory; a worker works on it
// only after a compare-and-swap of `state` that found it open, and the caller waits for all who entered.
struct alignas(64) ThreadPool::Job {
  using Body = FunctionRef<void(std::size_t, std::size_t, int)>;

  std::atomic<std::uint32_t> state{0};
  std::atomic<int> participants{0};
  alignas(64) std::atomic<int> next_ticket{0};
  std::atomic<bool> failed{false};
  std::atomic<bool> error_taken{false};
  std::exception_ptr error;
  const Body* body = nullptr;
  std::size_t n = 0;
  std::size_t chunk = 1;
  int ranges = 1;
  Range range[kMaxRanges];

  void prepare(std::size_t total, std::size_t chunk_size, int wanted, const Body& loop_body);
  bool enter();
  void leave();
  void work(int ticket);
  void take_chunks(Range& from, int participant);
  void join(int spins);
};

// Every participant gets a range of consecutive chunks (so that repeated loops touch the same memory on the same core) and,
// when it has finished its own, takes from the others'.
void ThreadPool::Job::prepare(std::size_t total, std::size_t chunk_size, int wanted, const Body& loop_body) {
  n = total;
  chunk = chunk_size;
  body = &loop_body;
  ranges = std::min(wanted, kMaxRanges);
  const std::size_t chunks = (n - 1) / chunk + 1;
  const std::size_t each = chunks / static_cast<std::size_t>(ranges);
  const std::size_t more = chunks % static_cast<std::size_t>(ranges);
  std::size_t begin = 0;
  for (int i = 0; i < ranges; ++i) {
    range[i].next.store(begin, std::memory_order_relaxed);
    begin += each + (static_cast<std::size_t>(i) < more ? 1 : 0);
    range[i].end = begin;
  }
  next_ticket.store(1, std::memory_order_relaxed);  // the caller has ticket 0
  failed.store(false, std::memory_order_relaxed);
  error_taken.store(false, std::memory_order_relaxed);
  participants.store(wanted, std::memory_order_relaxed);
}

bool ThreadPool::Job::enter() {
  std::uint32_t seen = state.load(std::memory_order_relaxed);
  while ((seen & kOpen) != 0) {
    // Whoever leaves saw no chunk left, so a worker need not come back: tickets are handed out once.
    if (next_ticket.load(std::memory_order_relaxed) >= participants.load(std::memory_order_relaxed)) return false;
    if (state.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire, std::memory_order_relaxed)) return true;
  }
  return false;
}

void ThreadPool::Job::leave() {
  const std::uint32_t before = state.fetch_sub(1, std::memory_order_release);
  // The caller may already be gone; waking a word nobody sleeps on does no harm.
  if ((before & kWaiting) != 0 && (before & kHelperMask) == 1) futex_wake(state, 1);
}

void ThreadPool::Job::take_chunks(Range& from, int participant) {
  while (from.next.load(std::memory_order_relaxed) < from.end) {
    const std::size_t index = from.next.fetch_add(1, std::memory_order_relaxed);
    if (index >= from.end || failed.load(std::memory_order_relaxed)) return;
    try {
      (*body)(index * chunk, std::min(n - index * chunk, chunk) + index * chunk, participant);
    } catch (...) {
      if (!error_taken.exchange(true, std::memory_order_relaxed)) error = std::current_exception();
      failed.store(true, std::memory_order_relaxed);
      return;
    }
  }
}

void ThreadPool::Job::work(int ticket) {
  const LoopScope scope;
  const int first = ticket % ranges;
  for (int i = 0; i < ranges && !failed.load(std::memory_order_relaxed); ++i) {
    take_chunks(range[(first + i) % ranges], ticket);
  }
}

void ThreadPool::Job::join(int spins) {
  std::uint32_t seen = state.fetch_and(~kOpen, std::memory_order_acquire) & ~kOpen;  // from here on no worker enters
  for (int i = 0; i < spins && (seen & kHelperMask) != 0; ++i) {
    spin_pause();
    seen = state.load(std::memory_order_acquire);
  }
  while ((seen & kHelperMask) != 0) {
    if ((seen & kWaiting) == 0 && !state.compare_exchange_weak(seen, seen | kWaiting, std::memory_order_acquire)) continue;
    futex_wait(state, seen | kWaiting);
    seen = state.load(std::memory_order_acquire);
  }
}

struct ThreadPool::Impl {
  alignas(64) std::atomic<std::uint32_t> epoch{0};  // changes with every new job
  alignas(64) std::atomic<int> sleepers{0};
  std::atomic<bool> stop{false};
  std::atomic<std::uint32_t> generation{0};
  std::atomic<std::uint32_t> restarting_generation{0};
  int worker_spins = 0;
  int join_spins = 0;
  Job jobs[kMaxJobs];
  std::vector<std::thread> workers;

  void start_workers(int count);
  void worker_loop();
  Job* claim_job();
  Job* enter_some_job();
  void announce(int helpers);
  void restart_after_fork(std::uint32_t now, int workers_wanted);
};

void ThreadPool::Impl::start_workers(int count) {
  // Signals belong to the program's own threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    for (int i = 0; i < count; ++i) workers.emplace_back([this] { worker_loop(); });
  } catch (const std::system_error&) {
    // The system gives no more threads: the loops run on those there are.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void ThreadPool::Impl::worker_loop() {
  const ScopedFloatEnvironment float_environment;
#ifdef __linux__
  pthread_setname_np(pthread_self(), "sardonyx-pool");
#endif
  for (;;) {
    const std::uint32_t seen = epoch.load(std::memory_order_acquire);
    if (stop.load(std::memory_order_relaxed)) return;
    if (Job* job = enter_some_job()) {
      const int ticket = job->next_ticket.fetch_add(1, std::memory_order_relaxed);
      if (ticket < job->participants.load(std::memory_order_relaxed)) job->work(ticket);
      job->leave();
      continue;
    }
    int spins = worker_spins;
    while (spins > 0 && epoch.load(std::memory_order_relaxed) == seen) {
      spin_pause();
      --spins;
    }
    if (spins > 0) continue;
    sleepers.fetch_add(1, std::memory_order_seq_cst);
    if (epoch.load(std::memory_order_seq_cst) == seen) futex_wait(epoch, seen);
    sleepers.fetch_sub(1, std::memory_order_relaxed);
  }
}

ThreadPool::Job* ThreadPool::Impl::enter_some_job() {
  for (Job& job : jobs) {
    if (job.enter()) return &job;
  }
  return nullptr;
}

ThreadPool::Job* ThreadPool::Impl::claim_job() {
  for (Job& job : jobs) {
    std::uint32_t free = 0;
    if (job.state.load(std::memory_order_relaxed) == 0 &&
        job.state.compare_exchange_strong(free, kOwned, std::memory_order_acquire, std::memory_order_relaxed)) {
      return &job;
    }
  }
  return nullptr;
}

void ThreadPool::Impl::announce(int helpers) {
  epoch.fetch_add(1, std::memory_order_seq_cst);
  const int asleep = sleepers.load(std::memory_order_seq_cst);
  if (asleep > 0) futex_wake(epoch, std::min(asleep, helpers));
}

// Only the thread that called fork() exists in the child: the workers are gone and the jobs of other threads will never end.
void ThreadPool::Impl::restart_after_fork(std::uint32_t now, int workers_wanted) {
  std::uint32_t claimed = restarting_generation.load();
  if (claimed != now && restarting_generation.compare_exchange_strong(claimed, now)) {
    new std::vector<std::thread>(std::move(workers));  // leaked: these threads can be neither joined nor detached here
    workers.clear();
    for (Job& job : jobs) job.state.store(0);
    sleepers.store(0);
    start_workers(workers_wanted);
    generation.store(now);
    return;
  }
  while (generation.load() != now) std::this_thread::yield();
}

ThreadPool::ThreadPool(int threads) : threads_(std::clamp(threads, 1, 1024)), impl_(std::make_unique<Impl>()) {
  register_fork_handler();
  const CpuBudget& budget = cpu_budget();
  const bool may_spin = threads_ > 1 && threads_ <= budget.affinity && budget.quota >= threads_;
  impl_->worker_spins = may_spin ? kWorkerSpins : 0;
  impl_->join_spins = may_spin ? kJoinSpins : 0;
  impl_->generation.store(g_fork_generation.load());
  impl_->restarting_generation.store(g_fork_generation.load());
  impl_->start_workers(threads_ - 1);
}

ThreadPool::~ThreadPool() {
  if (impl_->generation.load() != g_fork_generation.load()) {
    new std::vector<std::thread>(std::move(impl_->workers));  // leaked, as in restart_after_fork
    return;
  }
  impl_->stop.store(true);
  impl_->epoch.fetch_add(1);
  futex_wake(impl_->epoch, INT_MAX);
  for (std::thread& worker : impl_->workers) worker.join();
}

ThreadPool& ThreadPool::global() {
  static ThreadPool* pool = new ThreadPool(effective_cpus());
  return *pool;
}

bool ThreadPool::in_parallel_loop() { return t_in_loop; }

void ThreadPool::parallel_for(std::size_t n, std::size_t chunk, int max_threads,
                              FunctionRef<void(std::size_t, std::size_t)> body) {
  parallel_for_participants(n, chunk, max_threads, [&](std::size_t begin, std::size_t end, int) { body(begin, end); });
}

void ThreadPool::parallel_for_participants(std::size_t n, std::size_t chunk, int max_threads,
                                           FunctionRef<void(std::size_t, std::size_t, int)> body) {
  if (n == 0) return;
  chunk = std::max<std::size_t>(chunk, 1);
  const std::size_t chunks = (n - 1) / chunk + 1;
  const int participants = static_cast<int>(std::min<std::size_t>(chunks, static_cast<std::size_t>(
                                                std::clamp(max_threads, 1, threads_))));
  Job* job = nullptr;
  if (participants > 1 && !t_in_loop) {
    const std::uint32_t generation = g_fork_generation.load(std::memory_order_relaxed);
    if (impl_->generation.load(std::memory_order_acquire) != generation) impl_->restart_after_fork(generation, threads_ - 1);
    job = impl_->claim_job();
  }
  if (job == nullptr) {
    for (std::size_t begin = 0; begin < n; begin += std::min(n - begin, chunk)) {
      body(begin, begin + std::min(n - begin, chunk), 0);
    }
    return;
  }
  job->prepare(n, chunk, participants, body);
  job->state.fetch_or(kOpen, std::memory_order_release);
  impl_->announce(participants - 1);
  job->work(0);
  job->join(impl_->join_spins);
  std::exception_ptr error;
  if (job->failed.load(std::memory_order_relaxed)) error = std::exchange(job->error, nullptr);
  job->state.store(0, std::memory_order_release);
  if (error) std::rethrow_exception(error);
}

void Parallel::parallel_for(std::size_t n, std::size_t chunk, FunctionRef<void(std::size_t, std::size_t)> body) const {
  parallel_for_participants(n, chunk, [&](std::size_t begin, std::size_t end, int) { body(begin, end); });
}

void Parallel::parallel_for_participants(std::size_t n, std::size_t chunk,
                                         FunctionRef<void(std::size_t, std::size_t, int)> body) const {
  if (pool != nullptr) return pool->parallel_for_participants(n, chunk, max_threads, body);
  if (chunk == 0) chunk = 1;
  for (std::size_t begin = 0; begin < n; begin += std::min(n - begin, chunk)) body(begin, begin + std::min(n - begin, chunk), 0);
}

}  // namespace sardonyx
