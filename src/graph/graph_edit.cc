#include "graph/graph_edit.h"

#include <utility>

namespace sardonyx::graph {

void GraphEdit::replace_uses(ValueId from, ValueId to) {
  to = resolve(to);
  if (to != from) replaced_[from] = to;
}

ValueId GraphEdit::resolve(ValueId value) const {
  for (auto it = replaced_.find(value); it != replaced_.end(); it = replaced_.find(value)) value = it->second;
  return value;
}

Node& GraphEdit::insert_before(NodeId before, Node node) {
  node.id = static_cast<NodeId>(graph_.nodes_.size());
  inserted_[before].push_back(node.id);
  for (ValueId output : node.outputs) {
    if (output != kNoValue && graph_.value(output).producer == kNoNode) graph_.value(output).producer = node.id;
  }
  graph_.nodes_.push_back(std::move(node));
  return graph_.nodes_.back();
}

ValueId GraphEdit::add_before(NodeId before, std::string op_type, std::vector<ValueId> inputs, Attributes attributes) {
  Node node;
  node.name = graph_.node(before).name + "/" + op_type;
  node.op_type = std::move(op_type);
  node.inputs = std::move(inputs);
  node.outputs = {graph_.add_value(node.name)};
  node.attributes = std::move(attributes);
  return insert_before(before, std::move(node)).outputs[0];
}

bool GraphEdit::commit() {
  if (replaced_.empty() && removed_.empty() && inserted_.empty()) return false;
  for (NodeId id : removed_) {
    for (ValueId output : graph_.node(id).outputs) {
      if (output != kNoValue && graph_.value(output).producer == id) graph_.value(output).producer = kNoNode;
    }
  }
  std::vector<NodeId> order;
  const auto insert = [&](NodeId before) {
    const auto found = inserted_.find(before);
    if (found == inserted_.end()) return;
    for (NodeId id : found->second) {
      order.push_back(id);
      for (ValueId output : graph_.node(id).outputs) {
        if (output != kNoValue) graph_.value(output).producer = id;
      }
    }
  };
  for (NodeId id : graph_.order_) {
    insert(id);
    if (!is_removed(id)) order.push_back(id);
  }
  insert(kNoNode);
  graph_.order_ = std::move(order);
  for (NodeId id : removed_) graph_.node(id) = Node{};
  if (!replaced_.empty()) {
    for (NodeId id : graph_.order_) {
      for (ValueId& input : graph_.node(id).inputs) input = resolve(input);
    }
    for (ValueId& output : graph_.outputs) output = resolve(output);
  }
  replaced_.clear();
  removed_.clear();
  inserted_.clear();
  return true;
}

}  // namespace sardonyx::graph
