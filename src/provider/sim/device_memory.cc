#include "provider/sim/device_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/fail.h"

namespace sardonyx::provider::sim {
namespace {

// Whole pages per allocation, so that the pages of a freed one can be given back.
constexpr std::size_t kPage = 4096;

std::byte* map(int file, int protection) {
  void* address = mmap(nullptr, DeviceMemory::kSize, protection, MAP_SHARED | MAP_NORESERVE, file, 0);
  if (address == MAP_FAILED) fail(ErrorCode::kResourceExhausted, "the sim provider can't map its memory: {}", std::strerror(errno));
  return static_cast<std::byte*>(address);
}

}  // namespace

DeviceMemory& DeviceMemory::global() {
  static DeviceMemory* memory = new DeviceMemory();  // never destroyed: tensors may outlive static destruction
  return *memory;
}

DeviceMemory::DeviceMemory() {
  file_ = memfd_create("sardonyx-sim", MFD_CLOEXEC);
  if (file_ < 0 || ftruncate(file_, static_cast<off_t>(kSize)) != 0) {
    fail(ErrorCode::kResourceExhausted, "the sim provider can't make its memory: {}", std::strerror(errno));
  }
  host_base_ = map(file_, PROT_NONE);
  device_base_ = map(file_, PROT_READ | PROT_WRITE);
}

std::shared_ptr<void> DeviceMemory::allocate(std::size_t bytes) {
  const std::size_t size = (std::max<std::size_t>(bytes, 1) + kPage - 1) / kPage * kPage;
  std::size_t offset = 0;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [begin, length] : used_) {  // first fit
      if (begin - offset >= size) break;
      offset = begin + length;
    }
    if (bytes > kSize || offset + size > kSize) fail(ErrorCode::kResourceExhausted, "the sim provider has no {} bytes left", bytes);
    used_.emplace(offset, size);
  }
  std::memset(device_base_ + offset, kPoison, size);
  return {host_base_ + offset, [this, offset](void*) { release(offset); }};
}

void DeviceMemory::release(std::size_t offset) {
  const std::lock_guard lock(mutex_);
  const auto it = used_.find(offset);
  // Giving the pages back is a courtesy; where the system refuses, they are used again later.
  (void)!fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset), static_cast<off_t>(it->second));
  used_.erase(it);
}

bool DeviceMemory::contains(const void* host) const {
  const auto* address = static_cast<const std::byte*>(host);
  return address >= host_base_ && address < host_base_ + kSize;
}

void* DeviceMemory::device_address(void* host) const {
  if (!contains(host)) return host;
  return device_base_ + (static_cast<std::byte*>(host) - host_base_);
}

}  // namespace sardonyx::provider::sim
