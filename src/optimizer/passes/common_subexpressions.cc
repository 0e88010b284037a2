#include <cstring>
#include <map>
#include <string>

#include "ops/op_list.h"
#include "optimizer/passes/passes.h"

namespace sardonyx::optimizer {
namespace {

using graph::Attribute;
using graph::Graph;
using graph::kNoValue;
using graph::Node;

template <typename T>
void append_raw(std::string& key, const T& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

constexpr std::size_t kMaxComparedBytes = 4096;  // larger tensors are told apart by where they lie

void append_tensor(std::string& key, const Tensor& tensor) {
  append_raw(key, tensor.type());
  key += tensor.shape().to_string();
  if (tensor.type() == ElementType::kString) {
    for (const std::string& text : tensor.span<std::string>()) key += std::to_string(text.size()) + ":" + text;
  } else if (tensor.num_bytes() <= kMaxComparedBytes) {
    key.append(reinterpret_cast<const char*>(tensor.view().data_ptr), tensor.num_bytes());
  } else {
    append_raw(key, tensor.view().data_ptr);
  }
}

/// False where an attribute can't be compared: bodies, types, sparse tensors.
bool append_attribute(std::string& key, const Attribute& attribute) {
  append_raw(key, attribute.index());
  if (const auto* i = std::get_if<std::int64_t>(&attribute)) return append_raw(key, *i), true;
  if (const auto* f = std::get_if<float>(&attribute)) return append_raw(key, *f), true;
  if (const auto* s = std::get_if<std::string>(&attribute)) return key += std::to_string(s->size()) + ":" + *s, true;
  if (const auto* t = std::get_if<Tensor>(&attribute)) return append_tensor(key, *t), true;
  if (const auto* ints = std::get_if<std::vector<std::int64_t>>(&attribute)) {
    append_raw(key, ints->size());
    for (std::int64_t i : *ints) append_raw(key, i);
    return true;
  }
  if (const auto* floats = std::get_if<std::vector<float>>(&attribute)) {
    append_raw(key, floats->size());
    for (float f : *floats) append_raw(key, f);
    return true;
  }
  if (const auto* strings = std::get_if<std::vector<std::string>>(&attribute)) {
    append_raw(key, strings->size());
    for (const std::string& s : *strings) key += std::to_string(s.size()) + ":" + s;
    return true;
  }
  return false;
}

/// A key that is equal for nodes that compute the same; empty where a node can't be shared.
std::string key_of(const PassContext& context, const Graph& graph, const graph::GraphEdit& edit, const Node& node) {
  const ops::OpDef* op = ops::find_op(node.domain, node.op_type);
  if (!op || op->traits.nondeterministic || op->traits.control_flow) return {};
  std::string key = node.domain + "." + node.op_type + "/" + std::to_string(node.outputs.size());
  for (graph::ValueId read : node.inputs) {
    const graph::ValueId input = edit.resolve(read);
    const Tensor* constant = context.model.constant_of(graph, input);
    key += '|';
    if (constant) {
      append_tensor(key, *constant);
    } else {
      append_raw(key, input);
    }
  }
  std::map<std::string, const Attribute*> sorted;
  for (const auto& [name, attribute] : node.attributes) sorted.emplace(name, &attribute);
  for (const auto& [name, attribute] : sorted) {
    key += "@" + name + "=";
    if (!append_attribute(key, *attribute)) return {};
  }
  return key;
}

}  // namespace

bool share_common_subexpressions(PassContext& context, Graph& graph) {
  graph::GraphEdit edit(graph);
  std::map<std::string, graph::NodeId> seen;
  for (graph::NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    const std::string key = key_of(context, graph, edit, node);
    if (key.empty()) continue;
    const auto [it, is_new] = seen.try_emplace(key, id);
    if (is_new) continue;
    const Node& first = graph.node(it->second);
    bool covers = true;  // an output that only the second node wants keeps it
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
      covers &= node.outputs[i] == kNoValue || first.outputs[i] != kNoValue;
    if (!covers) continue;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] != kNoValue) edit.replace_uses(node.outputs[i], first.outputs[i]);
    }
    edit.remove(id);
  }
  return edit.commit();
}

}  // namespace sardonyx::optimizer
