#include "runtime/placement.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/fail.h"
#include "graph/graph_edit.h"
#include "ops/infer.h"
#include "ops/op_list.h"

namespace sardonyx::runtime {
namespace {

using graph::Graph;
using graph::kNoValue;
using graph::Model;
using graph::Node;
using graph::Support;

constexpr std::size_t kCpu = 0;
constexpr std::size_t kMaxReported = 5;

/// Whether inference knows every element of every output as an expression.
bool is_shape_arithmetic(const graph::NodeDesc& node) {
  return !node.outputs.empty() &&
         std::all_of(node.outputs.begin(), node.outputs.end(), [](const graph::ValueType& type) {
           return type.is_tensor() && type.values &&
                  (type.element == ElementType::kInt64 || type.element == ElementType::kInt32);
         });
}

class Placer {
 public:
  Placer(Model& model, const ProviderList& providers, const PlacementOptions& options)
      : model_(model), providers_(providers), options_(options) {}

  Placement run() {
    place_graph(model_.graph, 0);
    if (!refused_.empty()) refuse();
    insert_copies(model_.graph);
    return std::move(placement_);
  }

 private:
  void place_graph(Graph& graph, int depth) {
    for (graph::NodeId id : graph.order()) {
      Node& node = graph.node(id);
      const ops::OpDef* op = ops::find_op(node.domain, node.op_type);
      PlacedNode& placed = placement_.nodes.emplace_back(PlacedNode{node.name, node.op_type, {}, {}, {}, depth});
      if (const auto* from = node.attributes.strings("_fused_from")) placed.fused_from = *from;
      if (op && op->traits.control_flow) {
        node.provider = providers_[kCpu]->name();
        placed.provider = "runtime";
        graph::for_each_subgraph(node, [&](Graph& body) { place_graph(body, depth + 1); });
        continue;
      }
      if (!op) {
        const std::string full = (node.domain.empty() ? "" : node.domain + ".") + node.op_type;
        refused_.push_back(ops::node_place(node) + ": operator " + full + " is not known to this version");
        continue;
      }
      choose(graph, node, placed);
    }
  }

  void choose(const Graph& graph, Node& node, PlacedNode& placed) {
    const ops::DescribedNode described(model_, graph, node);
    if (is_shape_arithmetic(described.desc()) && providers_[kCpu]->supports(described.desc()).yes) {
      // Evaluated when shapes are bound, whoever is asked for: sending a handful of integers to a device and back helps
      // nobody.
      node.provider = providers_[kCpu]->name();
      placed.provider = node.provider;
      return;
    }
    for (std::size_t index : options_.order) {
      const Support support = providers_[index]->supports(described.desc());
      if (support.yes) {
        node.provider = providers_[index]->name();
        placed.provider = node.provider;
        return;
      }
      placed.declined.push_back(std::string(providers_[index]->name()) + ": " + support.reason);
    }
    const bool cpu_named = std::find(options_.order.begin(), options_.order.end(), kCpu) != options_.order.end();
    if (options_.allow_fallback && !cpu_named && providers_[kCpu]->supports(described.desc()).yes) {
      node.provider = providers_[kCpu]->name();
      placed.provider = node.provider;
      placement_.notes.push_back(ops::node_place(node) + " fell back to the cpu");
      return;
    }
    std::string reasons;
    for (const std::string& reason : placed.declined) reasons += "\n    " + reason;
    refused_.push_back(ops::node_place(node) + reasons);
  }

  [[noreturn]] void refuse() const {
    std::string text;
    for (std::size_t i = 0; i < refused_.size() && i < kMaxReported; ++i) text += "\n  " + refused_[i];
    if (refused_.size() > kMaxReported) text += fmt::format("\n  and {} more", refused_.size() - kMaxReported);
    const bool cpu_named = std::find(options_.order.begin(), options_.order.end(), kCpu) != options_.order.end();
    fail(ErrorCode::kUnsupported, "no provider runs {} of the model's nodes:{}{}", refused_.size(), text,
         cpu_named ? "" : "\n  name cpu as a further provider, or allow fallback");
  }

  std::size_t index_of(const std::string& name) const {
    const auto it =
        std::find_if(providers_.begin(), providers_.end(), [&](const auto& p) { return p->name() == name; });
    return it == providers_.end() ? kCpu : static_cast<std::size_t>(it - providers_.begin());
  }

  /// Puts a Copy before every reader that needs a value elsewhere; one copy a value and place.
  void insert_copies(Graph& graph) {
    std::map<graph::ValueId, std::size_t> lies_at;  // absent: on the host
    std::map<std::pair<graph::ValueId, std::size_t>, graph::ValueId> copied;
    graph::GraphEdit edit(graph);
    const auto where = [&](graph::ValueId value) {
      const auto it = lies_at.find(value);
      return it == lies_at.end() ? kCpu : it->second;
    };
    const auto bring = [&](graph::ValueId value, std::size_t to, graph::NodeId before) {
      if (where(value) == to) return value;
      const auto [it, is_new] = copied.try_emplace({value, to}, kNoValue);
      if (is_new) it->second = insert_copy(graph, edit, value, where(value), to, before);
      lies_at[it->second] = to;
      return it->second;
    };
    for (graph::NodeId id : graph.order()) {
      Node& node = graph.node(id);
      const ops::OpDef* op = ops::find_op(node.domain, node.op_type);
      const std::size_t provider = index_of(node.provider);
      const bool is_device = !providers_[provider]->device().is_host();
      Support support;
      if (is_device) support = providers_[provider]->supports(ops::DescribedNode(model_, graph, node).desc());
      for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        if (node.inputs[i] == kNoValue) continue;
        const bool on_host =
            !is_device || (op && i < 32 && (op->traits.shape_inputs >> i & 1)) || contains(support.host_inputs, i);
        node.inputs[i] = bring(node.inputs[i], on_host ? kCpu : provider, id);
      }
      for (std::size_t i = 0; i < node.outputs.size(); ++i) {
        if (node.outputs[i] != kNoValue && is_device && !contains(support.host_outputs, i))
          lies_at[node.outputs[i]] = provider;
      }
      graph::for_each_subgraph(node, [&](Graph& body) { insert_copies(body); });
    }
    for (graph::ValueId& output : graph.outputs) output = bring(output, kCpu, graph::kNoNode);
    edit.commit();
  }

  static bool contains(const std::vector<int>& list, std::size_t i) {
    return std::find(list.begin(), list.end(), static_cast<int>(i)) != list.end();
  }

  graph::ValueId insert_copy(Graph& graph, graph::GraphEdit& edit, graph::ValueId value, std::size_t from,
                             std::size_t to, graph::NodeId before) {
    const graph::ValueInfo info = graph.value(value);
    const std::string to_name(providers_[to]->name());
    Node copy;
    copy.domain = "ai.sardonyx";
    copy.op_type = "Copy";
    copy.name = info.name + "@" + to_name;
    copy.inputs = {value};
    copy.outputs = {graph.add_value(copy.name, info.type)};
    copy.attributes.set("to", to_name);
    copy.provider = providers_[to == kCpu ? from : to]->name();
    const graph::ValueId result = copy.outputs[0];
    edit.insert_before(before, std::move(copy));
    Dim elements(1);
    for (const Dim& dim : info.type.dims) elements = elements * dim;
    const std::int64_t bits = bit_width(info.type.element);
    const Dim bytes = bits >= 8 ? elements * Dim(bits / 8) : graph::ceil_div(elements * Dim(bits), Dim(8));
    placement_.copies.push_back({info.name, std::string(providers_[from]->name()), to_name,
                                 info.type.has_rank ? bytes.to_string() : "unknown", info.is_constant()});
    return result;
  }

  Model& model_;
  const ProviderList& providers_;
  const PlacementOptions& options_;
  Placement placement_;
  std::vector<std::string> refused_;
};

}  // namespace

bool accepts_fusion(const Model& model, const ProviderList& providers, const PlacementOptions& options,
                    const graph::NodeDesc& fused, std::span<const graph::NodeId> replaced, const Graph& graph) {
  for (std::size_t index : options.order) {
    if (providers[index]->supports(fused).yes) return true;
    const bool takes_singles = std::all_of(replaced.begin(), replaced.end(), [&](graph::NodeId id) {
      return providers[index]->supports(ops::DescribedNode(model, graph, graph.node(id)).desc()).yes;
    });
    if (takes_singles) return false;
  }
  return false;
}

Placement place(Model& model, const ProviderList& providers, const PlacementOptions& options) {
  return Placer(model, providers, options).run();
}

}  // namespace sardonyx::runtime
