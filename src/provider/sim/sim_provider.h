#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "provider/cpu/cpu_provider.h"

namespace sardonyx::provider::sim {

/// Which nodes the pretend accelerator declines, besides those it never runs.
struct SimOptions {
  std::vector<std::string> declined_operators;  ///< by operator name: "Softmax"
  std::vector<std::string> declined_nodes;      ///< by node name
  int gap_percent = 0;                          ///< this share of all nodes, chosen by seed and node name
  std::uint64_t gap_seed = 0;

  /// From a session's configuration: sim.decline, sim.decline_nodes (comma-separated), sim.gap_percent, sim.gap_seed. Takes
  /// entries that start with "sim."; unknown ones and bad numbers are kInvalidArgument.
  static SimOptions parse(const std::map<std::string, std::string>& config);
};

/// A pretend accelerator for tests: memory of its own that the host can't touch, work that is done when waited for, and gaps in
/// what it supports wherever a test wants them. Its kernels are the CPU's.
class SimProvider final : public Provider {
 public:
  static constexpr Device kDevice{1, 0};

  explicit SimProvider(SimOptions options) : options_(std::move(options)) {}
  std::string_view name() const override { return "sim"; }
  Device device() const override { return kDevice; }
  graph::Support supports(const graph::NodeDesc& node) const override;
  std::unique_ptr<Kernel> create_kernel(const graph::NodeDesc& node) const override { return cpu_.create_kernel(node); }
  std::string_view packing_variant() const override { return cpu_.packing_variant(); }
  std::shared_ptr<void> allocate(std::size_t bytes) const override;
  std::unique_ptr<Stream> create_stream() const override;

 private:
  SimOptions options_;
  cpu::CpuProvider cpu_;
};

}  // namespace sardonyx::provider::sim
