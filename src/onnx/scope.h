#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "onnx/attributes.h"
#include "onnx/load_state.h"

namespace sardonyx::onnx {

/// The names that nodes of one graph, or of one expansion of a function, can read, and what they stand for.
///
/// A subgraph's scope has an enclosing one. A name found only there becomes a capture: an input of the subgraph, to be
/// appended to those that it declares; constants are not captured but known in the subgraph by the same ConstId. A
/// function's expansion adds to its caller's graph and sees none of the caller's names.
class Scope {
 public:
  struct Capture {
    graph::ValueId outer, inner;
  };

  Scope(graph::Graph& graph, Scope* enclosing, const Opsets& opsets)
      : graph_(graph), enclosing_(enclosing), opsets_(opsets) {}

  /// The value in this scope's graph, kNoValue for a function's input that its call leaves out; nothing for an unknown
  /// name.
  std::optional<graph::ValueId> find(std::string_view name);
  /// Throws kInvalidModel when the name already stands for something in this scope itself.
  void define(std::string_view name, graph::ValueId value);

  /// Room for this many more names.
  void reserve(std::size_t names) { values_.reserve(values_.size() + names); }

  graph::Graph& graph() { return graph_; }
  const Opsets& opsets() const { return opsets_; }
  const std::vector<Capture>& captures() const { return captures_; }

  /// Inside a function's expansion: what its attribute references stand for, else null.
  const AttributeBindings* bindings = nullptr;
  /// Put before the names of values and nodes, so that those of two expansions differ: "call/".
  std::string prefix;
  std::string full_name(std::string_view name) const { return prefix + std::string(name); }

 private:
  graph::Graph& graph_;
  Scope* enclosing_;
  const Opsets& opsets_;
  std::unordered_map<std::string_view, graph::ValueId> values_;
  std::vector<Capture> captures_;
};

}  // namespace sardonyx::onnx
