#include "provider/cpu/cpu_provider.h"

#include <algorithm>
#include <new>
#include <string>

#include "base/cpu_info.h"
#include "base/fail.h"
#include "provider/cpu/kernel_list.h"

namespace sardonyx::provider::cpu {

graph::Support CpuProvider::supports(const graph::NodeDesc& node) const {
  const KernelEntry* entry = find_kernel(node.domain, node.op_type);
  if (!entry) return Support::decline("the cpu provider has no kernel for " + std::string(node.op_type));
  return entry->supports(node);
}

std::unique_ptr<Kernel> CpuProvider::create_kernel(const graph::NodeDesc& node) const {
  return find_kernel(node.domain, node.op_type)->create(node);
}

std::string_view CpuProvider::packing_variant() const { return sardonyx::name(current_isa()); }

std::shared_ptr<void> CpuProvider::allocate(std::size_t bytes) const {
  constexpr std::align_val_t kAlignment{64};
  void* memory = ::operator new(std::max<std::size_t>(bytes, 1), kAlignment, std::nothrow);
  if (!memory) fail(ErrorCode::kResourceExhausted, "out of memory: {} bytes for intermediate results", bytes);
  return {memory, [](void* p) { ::operator delete(p, kAlignment); }};
}

}  // namespace sardonyx::provider::cpu
