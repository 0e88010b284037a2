#include "graph/model.h"

#include <utility>

#include "base/fail.h"

namespace sardonyx::graph {
namespace {

void print(const Model& model, const Graph& graph, const std::string& indent, std::string& text) {
  const auto value_text = [&](ValueId id) {
    if (id == kNoValue) return std::string("_");
    const ValueInfo& info = graph.value(id);
    return "%" + info.name + ":" + info.type.to_string() + (info.is_constant() ? "!" : "");
  };
  text += indent + "graph " + graph.name + "(";
  for (ValueId input : graph.inputs) text += " " + value_text(input);
  text += " )\n";
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    text += indent + "  ";
    for (ValueId output : node.outputs) text += value_text(output) + " ";
    text += "= " + (node.domain.empty() ? "" : node.domain + ".") + node.op_type + "(";
    for (ValueId input : node.inputs) text += " " + value_text(input);
    text += " )" + (node.provider.empty() ? "" : " @" + node.provider) + "\n";
    for_each_subgraph(node, [&](Graph& body) { print(model, body, indent + "    ", text); });
  }
  text += indent + "  return";
  for (ValueId output : graph.outputs) text += " " + value_text(output);
  text += "\n";
}

void check(bool condition, const Graph& graph, const char* what, const std::string& where) {
  if (!condition) fail(ErrorCode::kInternal, "graph '{}' is not well formed: {} at '{}'", graph.name, what, where);
}

void verify_graph(const Model& model, const Graph& graph) {
  std::vector<bool> known(graph.value_count(), false);
  const auto in_range = [&](ValueId id) { return id >= 0 && static_cast<std::size_t>(id) < graph.value_count(); };
  for (std::size_t i = 0; i < graph.value_count(); ++i) {
    const ValueInfo& info = graph.value(static_cast<ValueId>(i));
    if (!info.is_constant()) continue;
    check(static_cast<std::size_t>(info.constant) < model.constants.size(), graph, "constant id out of range", info.name);
    known[i] = true;
  }
  check(graph.inputs.size() == graph.input_names.size() && graph.inputs.size() == graph.input_defaults.size(), graph,
        "inputs and their names differ in number", graph.name);
  check(graph.outputs.size() == graph.output_names.size(), graph, "outputs and their names differ in number", graph.name);
  for (ValueId input : graph.inputs) {
    check(in_range(input), graph, "input id out of range", graph.name);
    known[static_cast<std::size_t>(input)] = true;
  }
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    check(node.id == id, graph, "node id is off", node.name);
    for (ValueId input : node.inputs) {
      if (input == kNoValue) continue;
      check(in_range(input), graph, "value id out of range", node.name);
      check(known[static_cast<std::size_t>(input)], graph, "value read before it is made", node.name);
    }
    for (ValueId output : node.outputs) {
      if (output == kNoValue) continue;
      check(in_range(output), graph, "value id out of range", node.name);
      check(!known[static_cast<std::size_t>(output)], graph, "value made twice", node.name);
      check(graph.value(output).producer == id, graph, "producer is off", node.name);
      known[static_cast<std::size_t>(output)] = true;
    }
    for_each_subgraph(node, [&](Graph& body) {
      check(body.inputs.size() >= static_cast<std::size_t>(node.captures), graph, "body lacks captures", node.name);
      verify_graph(model, body);
    });
  }
  for (ValueId output : graph.outputs) {
    check(in_range(output) && known[static_cast<std::size_t>(output)], graph, "output is not made", graph.name);
  }
}

}  // namespace

ValueId Model::add_constant_value(Graph& in_graph, std::string name, Tensor tensor) {
  ValueType type = ValueType::of(tensor.type(), tensor.shape());
  return in_graph.add_constant(std::move(name), add_constant(std::move(tensor)), std::move(type));
}

const Tensor* Model::constant_of(const Graph& in_graph, ValueId value) const {
  if (value == kNoValue || !in_graph.value(value).is_constant()) return nullptr;
  return &constant(in_graph.value(value).constant);
}

std::string to_text(const Model& model) {
  std::string text;
  print(model, model.graph, "", text);
  return text;
}

void verify(const Model& model) { verify_graph(model, model.graph); }

}  // namespace sardonyx::graph
