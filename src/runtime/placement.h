#pragma once

#include <string>
#include <vector>

#include "graph/model.h"
#include "runtime/plan.h"

namespace sardonyx::runtime {

/// Why a node runs where it does.
struct PlacedNode {
  std::string name, op_type, provider;
  std::vector<std::string> declined;    ///< "sim: Softmax is in sim.decline": every provider that was asked first and said no
  std::vector<std::string> fused_from;  ///< the nodes that a fusion put together; empty otherwise
  int depth = 0;                        ///< of the body it stands in; 0 is the main graph
};

/// One copy between devices.
struct PlacedCopy {
  std::string value, from, to;
  std::string bytes;       ///< an expression over the model's symbols
  bool once = false;       ///< of a constant, when the model is loaded
};

/// What `sardonyx explain` shows.
struct Placement {
  std::vector<PlacedNode> nodes;
  std::vector<PlacedCopy> copies;
  std::vector<std::string> notes;  ///< fallbacks and providers left out, one sentence each
};

struct PlacementOptions {
  std::vector<std::size_t> order;  ///< indices into the provider list, in the user's order
  bool allow_fallback = false;     ///< the CPU may run what nobody in `order` takes
};

/// Whether a fused node may replace others, as optimizer::fuse asks: the providers are asked in the user's order, each first for
/// the fusion and then for all of the single nodes, and the first that says yes to either decides.
bool accepts_fusion(const graph::Model& model, const ProviderList& providers, const PlacementOptions& options,
                    const graph::NodeDesc& fused, std::span<const graph::NodeId> replaced, const graph::Graph& graph);

/// Gives every node of the model (bodies included) its provider and puts in the copies between devices. The model must be
/// inferred. Throws kUnsupported listing every provider's reason for the first few nodes that nobody takes.
Placement place(graph::Model& model, const ProviderList& providers, const PlacementOptions& options);

/// Readable table, and JSON.
std::string to_text(const Placement& placement);
std::string to_json(const Placement& placement);

}  // namespace sardonyx::runtime
