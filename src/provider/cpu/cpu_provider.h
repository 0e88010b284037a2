#pragma once

#include "provider/provider.h"

namespace sardonyx::provider::cpu {

/// The host's processor. Every kernel runs in the calling thread and the process's pool.
class CpuProvider final : public Provider {
 public:
  std::string_view name() const override { return "cpu"; }
  Device device() const override { return {}; }
  graph::Support supports(const graph::NodeDesc& node) const override;
  std::unique_ptr<Kernel> create_kernel(const graph::NodeDesc& node) const override;
  std::string_view packing_variant() const override;
  std::shared_ptr<void> allocate(std::size_t bytes) const override;
};

}  // namespace sardonyx::provider::cpu
