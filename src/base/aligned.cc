#include "base/aligned.h"

#include <cstdlib>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace sardonyx {

void* aligned_allocate(std::size_t bytes) {
  constexpr std::size_t kHugePage = std::size_t{2} << 20;
  const bool huge = bytes >= kHugePage;
  const std::size_t alignment = huge ? kHugePage : kBufferAlignment;
  const std::size_t rounded = bytes == 0 ? kBufferAlignment : (bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
  void* pointer = nullptr;
  if (rounded < bytes || posix_memalign(&pointer, alignment, rounded) != 0) {
    fail(ErrorCode::kResourceExhausted, "out of memory: could not allocate {} bytes", bytes);
  }
#ifdef MADV_HUGEPAGE
  if (huge) madvise(pointer, rounded / kHugePage * kHugePage, MADV_HUGEPAGE);  // a hint: failing is fine
#endif
  return pointer;
}

void aligned_free(void* pointer) noexcept { std::free(pointer); }

}  // namespace sardonyx
