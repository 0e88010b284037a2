#pragma once

#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "onnx/load_state.h"
#include "onnx/scope.h"

namespace sardonyx::onnx {

/// Builds one graph, or one expansion of a function, out of its serialized nodes: resolves names, closes subgraphs,
/// turns Constant nodes into constants, expands calls of model-local functions, and upgrades every other node.
class GraphBuilder {
 public:
  GraphBuilder(LoadState& state, Scope& scope) : state_(state), scope_(scope) {}

  /// The model's graph: inputs, constants, nodes, outputs.
  void build_main(Bytes message);

 private:
  using TypeHints = std::unordered_map<std::string_view, Bytes>;

  void build_contents(const GraphProto& proto, bool is_main);
  std::unordered_map<std::string_view, graph::ConstId> read_initializers(const GraphProto& proto);
  void add_inputs(const GraphProto& proto, std::unordered_map<std::string_view, graph::ConstId>& initializers,
                  bool is_main);
  void add_outputs(const GraphProto& proto);
  void build_nodes(const std::vector<Bytes>& nodes, const std::vector<std::uint32_t>& order);
  void build_node(const NodeProto& proto);

  graph::Attributes read_attributes(const NodeProto& proto);
  std::vector<graph::ValueId> read_inputs(const NodeProto& proto);
  std::vector<graph::ValueId> define_outputs(const NodeProto& proto);
  graph::ValueId define_output(std::string_view name);
  void build_constant(const NodeProto& proto, const graph::Attributes& attributes);
  std::int64_t version_of(std::string_view domain) const;
  void build_standard(const NodeProto& proto, graph::Attributes attributes);

  /// Subgraphs of the node: built, and given the same captures.
  void build_bodies(const NodeProto& proto, graph::Node& node);
  std::shared_ptr<graph::Graph> build_body(Bytes message, std::vector<Scope::Capture>& captures);

  // function_inline.cc
  void count_inlined();
  Function* find_function(const NodeProto& proto);
  void expand_call(const NodeProto& proto, Function& function, const graph::Attributes& attributes);
  AttributeBindings bind_attributes(const Function& function, const graph::Attributes& attributes);
  void take_outputs(const NodeProto& proto, const Function& function, Scope& inner);

  LoadState& state_;
  Scope& scope_;
  TypeHints hints_;
};

}  // namespace sardonyx::onnx
