#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

#include "base/fail.h"

namespace sardonyx {

/// Alignment in bytes of every buffer that kernels read or write: a cache line and the widest register.
inline constexpr std::size_t kBufferAlignment = 64;

/// `bytes` bytes at a multiple of kBufferAlignment, uninitialised; free with aligned_free. The size is rounded up to the
/// alignment, so a whole last register may be read. Throws Error(kResourceExhausted). Large blocks ask for huge pages.
void* aligned_allocate(std::size_t bytes);
void aligned_free(void* pointer) noexcept;

struct AlignedDeleter {
  void operator()(void* pointer) const noexcept { aligned_free(pointer); }
};

template <typename T>
using AlignedArray = std::unique_ptr<T[], AlignedDeleter>;

/// An uninitialised array of `count` T at a multiple of kBufferAlignment. Throws Error(kResourceExhausted).
template <typename T>
AlignedArray<T> make_aligned(std::size_t count) {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, sizeof(T), &bytes)) {
    fail(ErrorCode::kResourceExhausted, "an array of {} elements of {} bytes is larger than the address space", count, sizeof(T));
  }
  return AlignedArray<T>(static_cast<T*>(aligned_allocate(bytes)));
}

}  // namespace sardonyx
