#include "memory_meter.h"

#include <atomic>
#include <cstdlib>
#include <malloc.h>
#include <new>

namespace sardonyx::mutation {
namespace {

std::atomic<std::size_t> in_use{0}, peak{0}, limit{0};

void* take(std::size_t size, std::size_t alignment) {
  const std::size_t most = limit.load();
  if (most != 0 && (size > most || in_use.load() + size > most)) return nullptr;
  void* memory = alignment == 0 ? std::malloc(size)
                                : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (!memory) return nullptr;
  const std::size_t now = in_use.fetch_add(malloc_usable_size(memory)) + malloc_usable_size(memory);
  std::size_t before = peak.load();
  while (before < now && !peak.compare_exchange_weak(before, now)) {
  }
  return memory;
}

void give(void* memory) {
  if (!memory) return;
  in_use.fetch_sub(malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

std::size_t memory_in_use() { return in_use.load(); }
std::size_t memory_peak() { return peak.load(); }
void reset_peak() { peak.store(in_use.load()); }
void limit_memory(std::size_t bytes) { limit.store(bytes); }

void* take_or_throw(std::size_t size, std::size_t alignment) {
  if (void* memory = take(size == 0 ? 1 : size, alignment)) return memory;
  throw std::bad_alloc();
}
void* take_or_null(std::size_t size, std::size_t alignment) { return take(size == 0 ? 1 : size, alignment); }
void give_back(void* memory) { give(memory); }

}  // namespace sardonyx::mutation

namespace meter = sardonyx::mutation;

void* operator new(std::size_t size) { return meter::take_or_throw(size, 0); }
void* operator new[](std::size_t size) { return meter::take_or_throw(size, 0); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return meter::take_or_throw(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return meter::take_or_throw(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return meter::take_or_null(size, 0); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return meter::take_or_null(size, 0); }
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return meter::take_or_null(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return meter::take_or_null(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { meter::give_back(memory); }
void operator delete[](void* memory) noexcept { meter::give_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { meter::give_back(memory); }
void operator delete[](void* memory, std::size_t) noexcept { meter::give_back(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { meter::give_back(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { meter::give_back(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { meter::give_back(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { meter::give_back(memory); }
