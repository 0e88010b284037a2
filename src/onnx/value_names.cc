#include "onnx/value_names.h"

#include <unordered_map>

#include "base/fail.h"

namespace sardonyx::onnx {

using graph::Graph;
using graph::kNoNode;
using graph::kNoValue;
using graph::Node;
using graph::NodeId;
using graph::ValueId;

ValueNames::ValueNames(const Graph& graph, const ValueNames* enclosing, const Node* node)
    : graph_(graph), enclosing_(enclosing), names_(graph.value_count()) {
  name_inputs(node);
  name_outputs();
  name_rest();
}

bool ValueNames::is_taken(const std::string& name) const {
  return taken_.contains(name) || (enclosing_ && enclosing_->is_taken(name));
}

std::string ValueNames::unique(const std::string& wanted) {
  std::string name = wanted.empty() ? "value" : wanted;
  for (int i = 1; is_taken(name); ++i) name = (wanted.empty() ? "value" : wanted) + "_" + std::to_string(i);
  taken_.insert(name);
  return name;
}

void ValueNames::name_inputs(const Node* node) {
  const std::size_t captures = node ? static_cast<std::size_t>(node->captures) : 0;
  const std::size_t formal = graph_.inputs.size() - captures;
  for (std::size_t i = 0; i < formal; ++i) {
    std::string& name = names_[static_cast<std::size_t>(graph_.inputs[i])];
    name = unique(graph_.input_names[i]);
    if (!enclosing_ && name != graph_.input_names[i]) {
      fail(ErrorCode::kInvalidArgument, "the model has two inputs named '{}'", graph_.input_names[i]);
    }
  }
  for (std::size_t i = 0; i < captures; ++i) {
    const ValueId outer = node->inputs[node->inputs.size() - captures + i];
    names_[static_cast<std::size_t>(graph_.inputs[formal + i])] = outer == kNoValue ? "" : enclosing_->of(outer);
  }
}

void ValueNames::name_outputs() {
  if (enclosing_) return name_body_outputs();
  std::unordered_map<std::string, ValueId> returned;
  for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
    const ValueId value = graph_.outputs[i];
    const std::string& wanted = graph_.output_names[i];
    output_names_.push_back(wanted);
    const auto [known, is_new] = returned.emplace(wanted, value);
    if (!is_new) {
      if (known->second != value)
        fail(ErrorCode::kInvalidArgument, "the output name '{}' stands for two values", wanted);
      continue;
    }
    std::string& name = names_[static_cast<std::size_t>(value)];
    if (name == wanted) continue;
    if (is_made_here(value) && name.empty() && !is_taken(wanted)) {
      name = wanted;
    } else {
      identities_.push_back({value, wanted});
    }
    taken_.insert(wanted);
  }
}

/// A body's outputs go by position: their names may differ from those that the body had.
void ValueNames::name_body_outputs() {
  for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
    const ValueId value = graph_.outputs[i];
    std::string& name = names_[static_cast<std::size_t>(value)];
    output_names_.push_back(unique(graph_.output_names[i]));
    if (is_made_here(value) && name.empty()) {
      name = output_names_.back();
    } else {
      identities_.push_back({value, output_names_.back()});
    }
  }
}

bool ValueNames::is_made_here(ValueId value) const {
  return graph_.value(value).producer != kNoNode || graph_.value(value).is_constant();
}

void ValueNames::name_rest() {
  for (NodeId id : graph_.order()) {
    for (ValueId output : graph_.node(id).outputs) {
      if (output == kNoValue) continue;
      std::string& name = names_[static_cast<std::size_t>(output)];
      if (name.empty()) name = unique(graph_.value(output).name);
    }
  }
}

}  // namespace sardonyx::onnx
