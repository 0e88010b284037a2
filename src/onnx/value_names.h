#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "graph/model.h"

namespace sardonyx::onnx {

/// The names that one graph's values get in a file, unique among themselves and all names of the enclosing graphs.
///
/// An output's value has the output's name. Values that neither a node nor a constant of this graph makes (inputs,
/// captures), and values that are returned under two names, are returned through an Identity: `identities` lists these.
/// Constants that are not returned have no name until set() gives them one.
class ValueNames {
 public:
  struct Identity {
    graph::ValueId value;
    std::string output;
  };

  /// `enclosing` and `node` are null for the model's graph, else the names and the node of the graph around this one.
  ValueNames(const graph::Graph& graph, const ValueNames* enclosing, const graph::Node* node);

  const std::string& of(graph::ValueId value) const { return names_.at(static_cast<std::size_t>(value)); }
  /// A name that nothing has, made of this one; taken from now on.
  std::string unique(const std::string& wanted);
  void set(graph::ValueId value, std::string name) { names_[static_cast<std::size_t>(value)] = std::move(name); }
  const std::string& of_output(std::size_t i) const { return output_names_[i]; }
  const std::vector<Identity>& identities() const { return identities_; }

 private:
  bool is_taken(const std::string& name) const;
  void name_inputs(const graph::Node* node);
  void name_outputs();
  void name_body_outputs();
  void name_rest();
  bool is_made_here(graph::ValueId value) const;

  const graph::Graph& graph_;
  const ValueNames* enclosing_;
  std::vector<std::string> names_;  // by ValueId; "" where not yet named
  std::unordered_set<std::string> taken_;
  std::vector<std::string> output_names_;
  std::vector<Identity> identities_;
};

}  // namespace sardonyx::onnx
