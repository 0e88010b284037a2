#pragma once

#include <atomic>
#include <cstdint>

#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#endif

namespace sardonyx {

/// Sleeps while `word` holds `expected`; may also return for no reason. Pairs with futex_wake.
inline void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
#ifdef __linux__
  static_assert(sizeof(word) == 4);
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
#else
  word.wait(expected);
#endif
}

/// Wakes up to `count` threads that sleep on `word`.
inline void futex_wake(std::atomic<std::uint32_t>& word, int count) noexcept {
#ifdef __linux__
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
#else
  if (count > 0) word.notify_all();
#endif
}

/// One turn of a spinning wait.
inline void spin_pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace sardonyx
