#include "ops/infer.h"

#include <algorithm>
#include <utility>

#include "base/fail.h"
#include "ops/op_list.h"
#include "ops/signatures.h"

namespace sardonyx::ops {

using graph::Graph;
using graph::Model;
using graph::Node;
using graph::ValueId;

namespace {

void infer_graph(Model& model, Graph& graph, std::vector<Constraint>* constraints) {
  for (graph::NodeId id : graph.order()) {
    Node& node = graph.node(id);
    try {
      infer_node(model, graph, node, constraints);
    } catch (Error& error) {
      error.add_context(node_place(node));
      throw;
    }
  }
}

std::vector<ValueType> infer_body(Model& model, Graph& body, const std::vector<ValueType>& inputs,
                                  std::vector<Constraint>* constraints) {
  if (inputs.size() != body.inputs.size()) {
    fail(ErrorCode::kInvalidModel, "body '{}' takes {} inputs, but the node gives it {}", body.name, body.inputs.size(),
         inputs.size());
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) body.value(body.inputs[i]).type = inputs[i];
  // A loop's body is inferred more than once; what an earlier round assumed no longer counts.
  if (constraints) std::erase_if(*constraints, [&](const Constraint& constraint) { return constraint.graph == &body; });
  infer_graph(model, body, constraints);
  std::vector<ValueType> outputs;
  for (ValueId output : body.outputs) outputs.push_back(body.value(output).type);
  return outputs;
}

/// Symbols that a node brings into the world get their value from its outputs' actual dimensions, so each must stand
/// alone in one: an expression over new symbols becomes a symbol of its own, and values over new symbols are forgotten.
void make_solvable(ValueType& type, std::size_t known_symbols, graph::SymbolTable& symbols) {
  const auto is_new = [&](const Dim& dim) {
    std::vector<graph::SymbolId> used;
    dim.collect_symbols(used);
    return std::any_of(used.begin(), used.end(),
                       [&](graph::SymbolId s) { return static_cast<std::size_t>(s) >= known_symbols; });
  };
  for (Dim& dim : type.dims) {
    if (!dim.is_constant() && !dim.as_symbol() && is_new(dim)) dim = symbols.fresh();
  }
  if (type.values && std::any_of(type.values->begin(), type.values->end(), is_new)) type.values.reset();
}

/// Keeps the limits of infer_context.h.
void bound(ValueType& type, graph::SymbolTable& symbols) {
  if (type.dims.size() > kMaxRank) {
    fail(ErrorCode::kUnsupported, "an output would have rank {}; the highest that is supported is {}", type.dims.size(),
         kMaxRank);
  }
  const auto is_complex = [](const Dim& dim) { return dim.complexity() > kMostComplex; };
  for (Dim& dim : type.dims) {
    if (is_complex(dim)) dim = symbols.fresh();
  }
  if (!type.values) return;
  if (type.values->size() > kMaxKeptValues || std::any_of(type.values->begin(), type.values->end(), is_complex))
    type.values.reset();
}

void collect_symbols(const ValueType& type, std::vector<graph::SymbolId>& used) {
  for (const Dim& dim : type.dims) dim.collect_symbols(used);
  if (type.inner) collect_symbols(*type.inner, used);
}

/// Symbols that an earlier inference made are made afresh; what the graph's inputs mention stays.
void forget_inferred_symbols(Model& model) {
  std::vector<graph::SymbolId> used;
  for (ValueId input : model.graph.inputs) {
    collect_symbols(model.graph.value(input).type, used);
  }
  const auto last = std::max_element(used.begin(), used.end());
  model.symbols.truncate(last == used.end() ? 0 : static_cast<std::size_t>(*last) + 1);
}

}  // namespace

std::string node_place(const Node& node) {
  return "node '" + node.name + "' (" + (node.domain.empty() ? "" : node.domain + ".") + node.op_type + ")";
}

namespace {

/// A constant's copy on a device is still that constant to whoever decides by its elements.
const Tensor* constant_behind(const Model& model, const Graph& graph, ValueId value) {
  const Node* producer = graph.producer(value);
  if (producer && producer->domain == "ai.sardonyx" && producer->op_type == "Copy") value = producer->inputs[0];
  return model.constant_of(graph, value);
}

}  // namespace

DescribedNode::DescribedNode(const Model& model, const Graph& graph, const Node& node) {
  for (ValueId input : node.inputs) {
    inputs_.push_back(input == graph::kNoValue ? ValueType{} : graph.value(input).type);
    constants_.push_back(constant_behind(model, graph, input));
  }
  for (ValueId output : node.outputs)
    outputs_.push_back(output == graph::kNoValue ? ValueType{} : graph.value(output).type);
  desc_ = {node.domain, node.op_type, node.name,  &node.attributes,
           inputs_,     outputs_,     constants_, static_cast<std::size_t>(node.captures)};
}

namespace {

/// What holds of a node even where its inputs' types are not known: passes rely on required inputs being there.
void require_inputs(const Node& node) {
  const Signature* signature = find_signature(node.domain, node.op_type);
  for (std::size_t i = 0; signature && i < signature->inputs.size(); ++i) {
    if (signature->inputs[i].kind != Port::Kind::kRequired || node.has_input(i)) continue;
    fail(ErrorCode::kInvalidModel, "input {} ({}) is required and missing", i, signature->inputs[i].name);
  }
}

}  // namespace

void infer_node(Model& model, Graph& graph, Node& node, std::vector<Constraint>* constraints) {
  const OpDef* op = find_op(node.domain, node.op_type);
  if (!op || !op->infer) return;
  for (ValueId input : node.inputs) {
    if (input != graph::kNoValue && graph.value(input).type.is_none()) {
      return require_inputs(node);  // behind an unknown operator: placement says so
    }
  }
  const DescribedNode described(model, graph, node);
  check_signature(described.desc(), node.outputs.size());
  InferContext context(
      described.desc(), node.outputs.size(), model.symbols, constraints,
      [&](Graph& body, const std::vector<ValueType>& inputs) { return infer_body(model, body, inputs, constraints); });
  const std::size_t known_symbols = model.symbols.size();
  const std::size_t known_constraints = constraints ? constraints->size() : 0;
  op->infer(context);
  for (std::size_t i = known_constraints; constraints && i < constraints->size(); ++i) {
    Constraint& constraint = (*constraints)[i];
    if (constraint.graph) continue;  // of a body
    constraint.graph = &graph;
    constraint.node = node_place(node);
  }
  for (ValueType& type : context.outputs()) {
    make_solvable(type, known_symbols, model.symbols);
    bound(type, model.symbols);
  }
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] != graph::kNoValue) graph.value(node.outputs[i]).type = std::move(context.outputs()[i]);
  }
}

std::vector<Constraint> infer(Model& model) {
  std::vector<Constraint> constraints;
  forget_inferred_symbols(model);
  infer_graph(model, model.graph, &constraints);
  return constraints;
}

}  // namespace sardonyx::ops
