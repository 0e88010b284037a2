#include "graph/graph.h"

#include <algorithm>
#include <utility>

#include "base/fail.h"

namespace sardonyx::graph {

ValueId Graph::add_value(std::string value_name, ValueType type) {
  values_.push_back(ValueInfo{std::move(value_name), std::move(type)});
  return static_cast<ValueId>(values_.size() - 1);
}

ValueId Graph::add_constant(std::string value_name, ConstId constant, ValueType type) {
  const ValueId id = add_value(std::move(value_name), std::move(type));
  value(id).constant = constant;
  return id;
}

ValueId Graph::add_input(std::string input_name, ValueType type) {
  const ValueId id = add_value(input_name, std::move(type));
  inputs.push_back(id);
  input_names.push_back(std::move(input_name));
  input_defaults.push_back(kNoConst);
  return id;
}

void Graph::add_output(ValueId value, std::string output_name) {
  outputs.push_back(value);
  output_names.push_back(std::move(output_name));
}

Node& Graph::add_node(Node node) {
  node.id = static_cast<NodeId>(nodes_.size());
  order_.push_back(node.id);
  for (ValueId output : node.outputs) {
    if (output != kNoValue) value(output).producer = node.id;
  }
  nodes_.push_back(std::move(node));
  return nodes_.back();
}

void Graph::sort() {
  std::vector<std::int32_t> waiting(nodes_.size(), 0);
  std::vector<std::vector<NodeId>> readers(nodes_.size());
  for (NodeId id : order_) {
    for (ValueId input : node(id).inputs) {
      const NodeId from = input == kNoValue ? kNoNode : value(input).producer;
      if (from == kNoNode) continue;
      readers[static_cast<std::size_t>(from)].push_back(id);
      ++waiting[static_cast<std::size_t>(id)];
    }
  }
  std::vector<std::int32_t> position(nodes_.size(), 0);
  for (std::size_t i = 0; i < order_.size(); ++i)
    position[static_cast<std::size_t>(order_[i])] = static_cast<std::int32_t>(i);
  const auto later = [&](NodeId a, NodeId b) {
    return position[static_cast<std::size_t>(a)] > position[static_cast<std::size_t>(b)];
  };
  std::vector<NodeId> ready, sorted;
  for (NodeId id : order_) {
    if (waiting[static_cast<std::size_t>(id)] == 0) ready.push_back(id);
  }
  std::make_heap(ready.begin(), ready.end(), later);
  while (!ready.empty()) {
    std::pop_heap(ready.begin(), ready.end(), later);
    const NodeId id = ready.back();
    ready.pop_back();
    sorted.push_back(id);
    for (NodeId reader : readers[static_cast<std::size_t>(id)]) {
      if (--waiting[static_cast<std::size_t>(reader)] == 0) {
        ready.push_back(reader);
        std::push_heap(ready.begin(), ready.end(), later);
      }
    }
  }
  if (sorted.size() != order_.size()) {
    for (NodeId id : order_) {
      if (waiting[static_cast<std::size_t>(id)] > 0) {
        fail(ErrorCode::kInvalidModel, "graph '{}' has a cycle through node '{}' ({})", name, node(id).name,
             node(id).op_type);
      }
    }
  }
  order_ = std::move(sorted);
}

std::size_t Graph::remove_unused() {
  std::vector<std::int32_t> use_count(values_.size(), 0);
  for (NodeId id : order_) {
    for (ValueId input : node(id).inputs) {
      if (input != kNoValue) ++use_count[static_cast<std::size_t>(input)];
    }
  }
  for (ValueId output : outputs) ++use_count[static_cast<std::size_t>(output)];
  std::vector<bool> dead(nodes_.size(), false);
  std::size_t removed = 0;
  for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
    Node& candidate = node(*it);
    const bool used = std::any_of(candidate.outputs.begin(), candidate.outputs.end(), [&](ValueId output) {
      return output != kNoValue && use_count[static_cast<std::size_t>(output)] > 0;
    });
    if (used) continue;
    for (ValueId input : candidate.inputs) {
      if (input != kNoValue) --use_count[static_cast<std::size_t>(input)];
    }
    dead[static_cast<std::size_t>(*it)] = true;
    ++removed;
  }
  std::vector<NodeId> living;
  for (NodeId id : order_) {
    if (!dead[static_cast<std::size_t>(id)]) {
      living.push_back(id);
      continue;
    }
    for (ValueId output : node(id).outputs) {
      if (output != kNoValue) value(output).producer = kNoNode;
    }
    node(id) = Node{};
  }
  order_ = std::move(living);
  return removed;
}

std::vector<std::vector<Use>> Graph::uses() const {
  std::vector<std::vector<Use>> result(values_.size());
  for (NodeId id : order_) {
    const Node& reader = node(id);
    for (std::size_t i = 0; i < reader.inputs.size(); ++i) {
      if (reader.inputs[i] == kNoValue) continue;
      result[static_cast<std::size_t>(reader.inputs[i])].push_back({id, static_cast<std::int32_t>(i)});
    }
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    result[static_cast<std::size_t>(outputs[i])].push_back({kNoNode, static_cast<std::int32_t>(i)});
  }
  return result;
}

const Node* Graph::producer(ValueId id) const {
  const NodeId from = id == kNoValue ? kNoNode : value(id).producer;
  return from == kNoNode ? nullptr : &node(from);
}

std::shared_ptr<Graph> Graph::clone() const {
  auto copy = std::make_shared<Graph>(*this);
  for (NodeId id : copy->order_) {
    for (auto& [key, attribute] : copy->node(id).attributes) {
      if (auto* body = std::get_if<std::shared_ptr<Graph>>(&attribute)) *body = (*body)->clone();
      if (auto* bodies = std::get_if<std::vector<std::shared_ptr<Graph>>>(&attribute)) {
        for (auto& body : *bodies) body = body->clone();
      }
    }
  }
  return copy;
}

void for_each_subgraph(const Node& node, const std::function<void(Graph&)>& fn) {
  for (const auto& [key, attribute] : node.attributes) {
    if (const auto* body = std::get_if<std::shared_ptr<Graph>>(&attribute)) fn(**body);
    if (const auto* bodies = std::get_if<std::vector<std::shared_ptr<Graph>>>(&attribute)) {
      for (const auto& body : *bodies) fn(*body);
    }
  }
}

}  // namespace sardonyx::graph
