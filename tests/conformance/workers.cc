#include "tests/conformance/workers.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fmt/core.h>
#include <optional>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"

namespace sardonyx::conformance {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::uint32_t kMostReason = 1u << 20;

bool write_all(int file, const void* data, std::size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t n = write(file, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

bool read_all(int file, void* data, std::size_t size) {
  char* at = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t n = read(file, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

/// One child process that answers job numbers with texts, one at a time.
class Worker {
 public:
  Worker(const std::function<std::string(std::size_t)>& job, const std::vector<Worker>& others) {
    int to_child[2], to_parent[2];
    if (pipe(to_child) != 0 || pipe(to_parent) != 0) fail(ErrorCode::kIo, "no pipe: {}", std::strerror(errno));
    process_ = fork();
    if (process_ < 0) fail(ErrorCode::kIo, "no process: {}", std::strerror(errno));
    if (process_ == 0) {
      close(to_child[1]);
      close(to_parent[0]);
      for (const Worker& other : others) other.close_files();
      serve(to_child[0], to_parent[1], job);
    }
    close(to_child[0]);
    close(to_parent[1]);
    requests_ = to_child[1];
    answers_ = to_parent[0];
  }

  int answers() const { return answers_; }
  const std::optional<std::uint64_t>& current() const { return current_; }
  double busy_seconds() const { return std::chrono::duration<double>(Clock::now() - started_).count(); }
  void kill_process() const { kill(process_, SIGKILL); }

  void start(std::uint64_t index) {
    current_ = index;
    started_ = Clock::now();
    write_all(requests_, &index, sizeof(index));  // a dead child is noticed when it doesn't answer
  }

  /// The current job's text, or nothing when the process has died.
  std::optional<std::string> finish() {
    current_.reset();
    std::uint32_t size = 0;
    if (!read_all(answers_, &size, sizeof(size)) || size > kMostReason) return std::nullopt;
    std::string text(size, '\0');
    if (!read_all(answers_, text.data(), size)) return std::nullopt;
    return text;
  }

  /// Ends the process and says how it ended.
  std::string join() {
    close_files();
    int status = 0;
    while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status)) return fmt::format("the process died: {}", strsignal(WTERMSIG(status)));
    return fmt::format("the process ended with status {}", WEXITSTATUS(status));
  }

 private:
  void close_files() const {
    close(requests_);
    close(answers_);
  }

  [[noreturn]] static void serve(int requests, int answers, const std::function<std::string(std::size_t)>& job) {
    std::uint64_t index = 0;
    while (read_all(requests, &index, sizeof(index))) {
      std::string text = job(index);
      if (text.size() > kMostReason) text.resize(kMostReason);
      const auto size = static_cast<std::uint32_t>(text.size());
      if (!write_all(answers, &size, sizeof(size)) || !write_all(answers, text.data(), size)) break;
    }
    _exit(0);
  }

  pid_t process_ = -1;
  int requests_ = -1;
  int answers_ = -1;
  std::optional<std::uint64_t> current_;
  Clock::time_point started_;
};

class Crew {
 public:
  Crew(std::size_t count, double timeout_s, const std::function<std::string(std::size_t)>& job,
       const std::function<void(std::size_t)>& progress)
      : results_(count), timeout_s_(timeout_s), job_(job), progress_(progress) {}

  std::vector<std::string> run(int workers) {
    std::signal(SIGPIPE, SIG_IGN);
    for (int i = 0; i < workers && next_ < results_.size(); ++i) {
      workers_.emplace_back(job_, workers_);
      workers_.back().start(next_++);
    }
    while (done_ < results_.size()) wait_once();
    for (Worker& worker : workers_) worker.join();
    return std::move(results_);
  }

 private:
  void wait_once() {
    std::vector<pollfd> files;
    for (const Worker& worker : workers_) files.push_back({worker.current() ? worker.answers() : -1, POLLIN, 0});
    poll(files.data(), files.size(), 200);
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      if (files[i].revents != 0)
        take_answer(i);
      else if (workers_[i].current() && workers_[i].busy_seconds() > timeout_s_)
        replace(i, true);
    }
  }

  void take_answer(std::size_t i) {
    const std::uint64_t index = *workers_[i].current();
    std::optional<std::string> text = workers_[i].finish();
    if (text) {
      record(index, std::move(*text));
      if (next_ < results_.size()) workers_[i].start(next_++);
    } else {
      died(i, index, workers_[i].join());
    }
  }

  void replace(std::size_t i, bool timed_out) {
    const std::uint64_t index = *workers_[i].current();
    workers_[i].kill_process();
    const std::string how = workers_[i].join();
    died(i, index, timed_out ? fmt::format("took longer than {} s", timeout_s_) : how);
  }

  void died(std::size_t i, std::uint64_t index, std::string why) {
    record(index, std::move(why));
    workers_.erase(workers_.begin() + static_cast<std::ptrdiff_t>(i));
    workers_.emplace(workers_.begin() + static_cast<std::ptrdiff_t>(i), Worker(job_, workers_));
    if (next_ < results_.size()) workers_[i].start(next_++);
  }

  void record(std::uint64_t index, std::string text) {
    results_[index] = std::move(text);
    progress_(++done_);
  }

  std::vector<std::string> results_;
  double timeout_s_;
  const std::function<std::string(std::size_t)>& job_;
  const std::function<void(std::size_t)>& progress_;
  std::vector<Worker> workers_;
  std::size_t next_ = 0;
  std::size_t done_ = 0;
};

}  // namespace

std::vector<std::string> run_in_workers(std::size_t count, int workers, double timeout_s,
                                        const std::function<std::string(std::size_t)>& job,
                                        const std::function<void(std::size_t)>& progress) {
  return Crew(count, timeout_s, job, progress).run(workers < 1 ? 1 : workers);
}

}  // namespace sardonyx::conformance
