#pragma once

#include <cstddef>
#include <vector>

#include "base/aligned.h"

namespace sardonyx::text {

/// Allocates as aligned_allocate does: large blocks in huge pages, which spare most page faults of filling them and
/// most misses of address translation afterwards. The tables of vocabularies are read at random.
template <typename T>
struct LargeAllocator {
  using value_type = T;

  LargeAllocator() = default;
  template <typename U>
  LargeAllocator(const LargeAllocator<U>&) {}  // NOLINT: implicit as the standard asks

  T* allocate(std::size_t count) {
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(count, sizeof(T), &bytes)) throw std::bad_array_new_length();
    return static_cast<T*>(aligned_allocate(bytes));
  }
  void deallocate(T* pointer, std::size_t) noexcept { aligned_free(pointer); }

  bool operator==(const LargeAllocator&) const { return true; }
};

template <typename T>
using LargeVector = std::vector<T, LargeAllocator<T>>;

}  // namespace sardonyx::text
