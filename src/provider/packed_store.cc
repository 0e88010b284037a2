#include "provider/packed_store.h"

#define XXH_INLINE_ALL
#include <sys/mman.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <tuple>
#include <vector>

#include "base/aligned_tensor.h"
#include "base/fail.h"

namespace sardonyx::provider {

struct PackedStore::State {
  using Key = std::tuple<std::uint64_t, std::uint64_t, std::size_t, std::string>;  // content hash, content size, packing
  std::mutex mutex;
  std::map<Key, std::weak_ptr<const std::byte>> entries;
  std::atomic<std::size_t> bytes{0};
};

namespace {

/// Memory for one misaligned constant at a time, kept by the thread while a model loads.
std::vector<std::byte>& scratch() {
  static thread_local std::vector<std::byte> memory;
  return memory;
}

TensorView align_in(std::vector<std::byte>& memory, TensorView constant) {
  constexpr std::uintptr_t kAlignment = 64;
  const std::size_t bytes = constant.num_bytes();
  if (memory.size() < bytes + kAlignment) memory.resize(bytes + kAlignment);
  const auto address = (reinterpret_cast<std::uintptr_t>(memory.data()) + kAlignment - 1) / kAlignment * kAlignment;
  std::memcpy(reinterpret_cast<void*>(address), constant.data_ptr, bytes);
  constant.data_ptr = reinterpret_cast<void*>(address);
  return constant;
}

}  // namespace

void PackedStore::release_scratch() {
  scratch().clear();
  scratch().shrink_to_fit();
}

PackedStore::PackedStore() : state_(std::make_shared<State>()) {}

PackedStore& PackedStore::global() {
  static PackedStore store;
  return store;
}

std::size_t PackedStore::bytes() const { return state_->bytes.load(); }

std::shared_ptr<const std::byte> PackedStore::get(const TensorView& constant, const PackRequest& request, std::string_view isa) {
  const std::size_t size = constant.num_bytes();
  const XXH128_hash_t hash = XXH3_128bits(constant.data_ptr, size);
  std::string packing = request.packing + "|" + std::string(isa) + "|" + constant.shape.to_string();
  State::Key key{hash.low64, hash.high64, size, std::move(packing)};
  {
    const std::lock_guard lock(state_->mutex);
    const auto it = state_->entries.find(key);
    if (it != state_->entries.end()) {
      if (auto held = it->second.lock()) return held;
    }
  }
  // Large packings take huge pages where the system gives them: a quarter of the load time went into faulting small ones in.
  constexpr std::size_t kHugePage = std::size_t{2} << 20;
  const bool huge = request.bytes >= kHugePage;
  const std::align_val_t alignment{huge ? kHugePage : 64};
  void* memory = ::operator new(std::max<std::size_t>(request.bytes, 1), alignment, std::nothrow);
  if (!memory) fail(ErrorCode::kResourceExhausted, "out of memory: {} bytes for packed weights", request.bytes);
  if (huge) madvise(memory, request.bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
  state_->bytes += request.bytes;
  // The deleter holds the state, so an entry may outlive the store.
  std::shared_ptr<std::byte> packed(static_cast<std::byte*>(memory), [state = state_, key, alignment, bytes = request.bytes](std::byte* p) {
    ::operator delete(p, alignment);
    state->bytes -= bytes;
    const std::lock_guard lock(state->mutex);
    const auto it = state->entries.find(key);
    if (it != state->entries.end() && it->second.expired()) state->entries.erase(it);
  });
  // The file may have put the elements anywhere; packers read them as their type.
  request.pack(is_aligned(constant) ? constant : align_in(scratch(), constant), packed.get());
  const std::lock_guard lock(state_->mutex);
  std::weak_ptr<const std::byte>& entry = state_->entries[key];
  if (auto other = entry.lock()) return other;  // another thread packed the same meanwhile
  entry = packed;
  return packed;
}

}  // namespace sardonyx::provider
