#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>

namespace sardonyx::provider::sim {

/// Memory of the pretend accelerator. One memfd is mapped twice: at the address that the host sees nothing may be touched (a
/// stray access faults), and the device's kernels use the second mapping. Fresh memory is filled with a pattern, so that
/// reading what nobody wrote shows. Thread-safe.
class DeviceMemory {
 public:
  static constexpr std::size_t kSize = std::size_t{32} << 30;  ///< of address space; pages are taken when touched
  static constexpr unsigned char kPoison = 0xDB;

  static DeviceMemory& global();

  /// 64-byte aligned; the address is the host's. Throws kResourceExhausted.
  std::shared_ptr<void> allocate(std::size_t bytes);
  /// The device's address of a host address in this memory; other addresses come back as they are.
  void* device_address(void* host) const;
  bool contains(const void* host) const;

 private:
  DeviceMemory();
  void release(std::size_t offset);

  int file_ = -1;
  std::byte* host_base_ = nullptr;
  std::byte* device_base_ = nullptr;
  std::mutex mutex_;
  std::map<std::size_t, std::size_t> used_;  ///< offset → bytes
};

}  // namespace sardonyx::provider::sim
