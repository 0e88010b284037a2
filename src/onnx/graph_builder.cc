#include "onnx/graph_builder.h"

#include <algorithm>
#include <fmt/core.h>
#include <unordered_set>
#include <utility>

#include "base/fail.h"
#include "onnx/context.h"
#include "onnx/types.h"
#include "onnx/upgrade/opsets.h"
#include "onnx/upgrade/upgrader.h"

namespace sardonyx::onnx {

using graph::ConstId;
using graph::Graph;
using graph::kNoConst;
using graph::kNoValue;
using graph::ValueId;
using graph::ValueType;

namespace {

/// Since IR 4 an initializer that is also an input is that input's default; before, every initializer had to be an
/// input, and callers treated those as constants.
constexpr std::int64_t kFirstIrWithDefaults = 4;

/// Whether a declared type admits a given tensor.
void check_default(const ValueType& type, const Tensor& tensor, std::string_view name) {
  const bool fits = type.is_none() ||
                    (type.is_tensor() && (type.element == ElementType::kUndefined || type.element == tensor.type()));
  bool fits_shape = !type.has_rank || type.rank() == tensor.shape().rank();
  for (std::size_t i = 0; fits_shape && i < type.dims.size(); ++i) {
    fits_shape = !type.dims[i].is_constant() || type.dims[i].is(tensor.shape()[i]);
  }
  if (!fits || !fits_shape) {
    fail(ErrorCode::kInvalidModel, "input '{}' is declared as {}, but its initializer is {}", name, type.to_string(),
         ValueType::of(tensor.type(), tensor.shape()).to_string());
  }
}

constexpr std::size_t kMostBodies = 64;  ///< of one node; If has two

std::string place_of(const NodeProto& proto) {
  const std::string domain = proto.domain.empty() ? "" : std::string(proto.domain) + ".";
  return fmt::format("node '{}' ({}{})", proto.name, domain, proto.op_type);
}

}  // namespace

void GraphBuilder::build_main(Bytes message) {
  const GraphProto proto = parse_graph(message);
  scope_.graph().name = proto.name;
  in_context([&] { return fmt::format("graph '{}'", proto.name); }, [&] { build_contents(proto, true); });
}

void GraphBuilder::build_contents(const GraphProto& proto, bool is_main) {
  const NestingLevel level(state_);
  for (const auto* list : {&proto.value_infos, &proto.outputs}) {
    for (Bytes message : *list) {
      const ValueInfoProto info = parse_value_info(message);
      if (info.type) hints_.emplace(info.name, *info.type);
    }
  }
  auto initializers = read_initializers(proto);
  add_inputs(proto, initializers, is_main);
  const Producers producers = find_producers(proto.nodes);
  scope_.reserve(producers.size());
  build_nodes(proto.nodes, order_nodes(proto.nodes, producers));
  add_outputs(proto);
}

std::unordered_map<std::string_view, ConstId> GraphBuilder::read_initializers(const GraphProto& proto) {
  std::unordered_map<std::string_view, ConstId> initializers;
  std::vector<std::string_view> names;  // in the file's order
  const auto add = [&](std::string_view name, Tensor tensor) {
    if (name.empty()) fail(ErrorCode::kInvalidModel, "an initializer has no name");
    if (!initializers.emplace(name, state_.model.add_constant(std::move(tensor))).second) {
      fail(ErrorCode::kInvalidModel, "there are two initializers named '{}'", name);
    }
    names.push_back(name);
  };
  for (Bytes message : proto.initializers) {
    const TensorProto tensor = parse_tensor(message);
    add(tensor.name, state_.tensors.decode(tensor));
  }
  for (Bytes message : proto.sparse_initializers) {
    const SparseTensorProto sparse = parse_sparse_tensor(message);
    const std::string_view name = sparse.values ? parse_tensor(*sparse.values).name : std::string_view();
    add(name, state_.tensors.densify(state_.tensors.decode_sparse(sparse)));
  }
  std::unordered_map<std::string_view, ConstId> inputs;
  if (!names.empty()) {
    for (Bytes message : proto.inputs) inputs.emplace(parse_value_info(message).name, kNoConst);
  }
  for (std::string_view name : names) {
    const ConstId id = initializers.at(name);
    if (inputs.contains(name) && state_.model.ir_version >= kFirstIrWithDefaults) continue;
    const Tensor& tensor = state_.model.constant(id);
    const ValueType type = ValueType::of(tensor.type(), tensor.shape());
    scope_.define(name, scope_.graph().add_constant(scope_.full_name(name), id, type));
  }
  return initializers;
}

void GraphBuilder::add_inputs(const GraphProto& proto, std::unordered_map<std::string_view, ConstId>& initializers,
                              bool is_main) {
  Graph& graph = scope_.graph();
  for (Bytes message : proto.inputs) {
    const ValueInfoProto info = parse_value_info(message);
    if (info.name.empty()) fail(ErrorCode::kInvalidModel, "a graph input has no name");
    ValueType type = type_of(info, state_.model.symbols);
    const auto initializer = initializers.find(info.name);
    const bool has_default = initializer != initializers.end();
    if (has_default) check_default(type, state_.model.constant(initializer->second), info.name);
    if (has_default && state_.model.ir_version < kFirstIrWithDefaults) continue;
    if (is_main && type.is_none() && !has_default) fail(ErrorCode::kInvalidModel, "input '{}' has no type", info.name);
    if (type.is_none() && has_default) type = ValueType::unranked(state_.model.constant(initializer->second).type());
    scope_.define(info.name, graph.add_input(std::string(info.name), std::move(type)));
    if (has_default) graph.input_defaults.back() = initializer->second;
  }
}

void GraphBuilder::add_outputs(const GraphProto& proto) {
  for (Bytes message : proto.outputs) {
    const ValueInfoProto info = parse_value_info(message);
    const std::optional<ValueId> value = scope_.find(info.name);
    if (!value || *value == kNoValue) {
      fail(ErrorCode::kInvalidModel, "the graph's output '{}' is made by no node", info.name);
    }
    scope_.graph().add_output(*value, std::string(info.name));
  }
}

void GraphBuilder::build_nodes(const std::vector<Bytes>& nodes, const std::vector<std::uint32_t>& order) {
  for (std::uint32_t i : order) {
    const NodeProto proto = parse_node(nodes[i]);
    in_context([&] { return place_of(proto); }, [&] { build_node(proto); });
  }
}

void GraphBuilder::build_node(const NodeProto& proto) {
  if (proto.op_type.empty()) fail(ErrorCode::kInvalidModel, "a node has no operator");
  graph::Attributes attributes = read_attributes(proto);
  if (Function* function = find_function(proto)) return expand_call(proto, *function, attributes);
  if (scope_.bindings) count_inlined();
  if (proto.op_type == "Constant" && canonical_domain(proto.domain).empty()) return build_constant(proto, attributes);
  build_standard(proto, std::move(attributes));
}

std::vector<ValueId> GraphBuilder::read_inputs(const NodeProto& proto) {
  std::vector<ValueId> inputs;
  for (std::string_view name : proto.inputs) {
    const std::optional<ValueId> value = name.empty() ? kNoValue : scope_.find(name);
    if (!value)
      fail(ErrorCode::kInvalidModel, "it reads '{}', which is no input, initializer or output of a node", name);
    inputs.push_back(*value);
  }
  while (!inputs.empty() && inputs.back() == kNoValue) inputs.pop_back();
  return inputs;
}

ValueId GraphBuilder::define_output(std::string_view name) {
  if (name.empty()) return kNoValue;
  ValueType type;
  const auto hint = hints_.find(name);
  if (hint != hints_.end()) {
    type = in_context([&] { return fmt::format("the type of '{}'", name); },
                      [&] { return parse_type(hint->second, state_.model.symbols); });
  }
  const ValueId value = scope_.graph().add_value(scope_.full_name(name), std::move(type));
  scope_.define(name, value);
  return value;
}

std::vector<ValueId> GraphBuilder::define_outputs(const NodeProto& proto) {
  std::vector<ValueId> outputs;
  for (std::string_view name : proto.outputs) outputs.push_back(define_output(name));
  return outputs;
}

void GraphBuilder::build_standard(const NodeProto& proto, graph::Attributes attributes) {
  graph::Node node;
  node.domain = canonical_domain(proto.domain);
  node.op_type = proto.op_type;
  node.name = scope_.full_name(proto.name);
  node.inputs = read_inputs(proto);
  node.attributes = std::move(attributes);
  build_bodies(proto, node);
  node.outputs = define_outputs(proto);
  if (std::all_of(node.outputs.begin(), node.outputs.end(), [](ValueId output) { return output == kNoValue; })) {
    fail(ErrorCode::kInvalidModel, "it has no output");
  }
  std::string_view place = proto.name;  // what names of nodes that an upgrade adds begin with
  if (place.empty() && !proto.outputs.empty()) place = proto.outputs.front();
  if (place.empty()) place = proto.op_type;
  Upgrader upgrader(state_.model, scope_.graph(), version_of(node.domain), scope_.full_name(place));
  upgrade_node(upgrader, std::move(node));
}

std::int64_t GraphBuilder::version_of(std::string_view domain) const {
  const auto found = scope_.opsets().find(domain);
  if (found != scope_.opsets().end()) return found->second;
  if (domain.empty()) fail(ErrorCode::kInvalidModel, "the model imports no version of the operators of ai.onnx");
  return newest_opset(domain);  // files often leave such imports out
}

void GraphBuilder::build_bodies(const NodeProto& proto, graph::Node& node) {
  struct Body {
    std::shared_ptr<Graph> graph;
    std::vector<Scope::Capture> captures;
  };
  std::vector<Body> bodies;
  const auto build = [&](Bytes message) {
    Body body;
    body.graph = build_body(message, body.captures);
    bodies.push_back(body);
    return bodies.back().graph;
  };
  for (const AttributeProto& attribute : proto.attributes) {
    if (!attribute.ref_attr_name.empty()) continue;
    if (type_of(attribute) == AttributeType::kGraph) {
      if (!attribute.g) fail(ErrorCode::kInvalidModel, "attribute '{}': the graph is missing", attribute.name);
      node.attributes.set(std::string(attribute.name), build(*attribute.g));
    } else if (type_of(attribute) == AttributeType::kGraphs) {
      std::vector<std::shared_ptr<Graph>> list;
      for (Bytes message : attribute.graphs) list.push_back(build(message));
      node.attributes.set(std::string(attribute.name), std::move(list));
    }
  }
  if (bodies.empty()) return;
  if (node.is("Loop") && node.inputs.size() < 2)
    node.inputs.resize(2, kNoValue);  // so that captures come after its own inputs
  if (bodies.size() > kMostBodies)
    fail(ErrorCode::kUnsupported, "a node has {} subgraphs; at most {} are supported", bodies.size(), kMostBodies);
  std::vector<ValueId> outer;
  std::unordered_set<ValueId> seen;
  for (const Body& body : bodies) {
    for (const Scope::Capture& capture : body.captures) {
      if (seen.insert(capture.outer).second) outer.push_back(capture.outer);
    }
  }
  for (Body& body : bodies) {
    std::unordered_map<ValueId, ValueId> inner;
    for (const Scope::Capture& capture : body.captures) inner.emplace(capture.outer, capture.inner);
    for (ValueId value : outer) {
      const auto known = inner.find(value);
      const bool is_read = known != inner.end();
      body.graph->inputs.push_back(is_read ? known->second
                                           : body.graph->add_value("", scope_.graph().value(value).type));
      body.graph->input_names.push_back(is_read ? scope_.graph().value(value).name : "");
      body.graph->input_defaults.push_back(kNoConst);
    }
  }
  node.inputs.insert(node.inputs.end(), outer.begin(), outer.end());
  node.captures = static_cast<std::int32_t>(outer.size());
}

std::shared_ptr<Graph> GraphBuilder::build_body(Bytes message, std::vector<Scope::Capture>& captures) {
  const GraphProto proto = parse_graph(message);
  auto graph = std::make_shared<Graph>();
  graph->name = proto.name;
  Scope scope(*graph, &scope_, scope_.opsets());
  scope.bindings = scope_.bindings;
  scope.prefix = scope_.prefix;
  in_context([&] { return fmt::format("graph '{}'", proto.name); },
             [&] { GraphBuilder(state_, scope).build_contents(proto, false); });
  captures = scope.captures();
  return graph;
}

}  // namespace sardonyx::onnx
