#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace sardonyx::graph {

/// A loaded model: one graph in the internal opset, its constants, and what the file said about itself.
struct Model {
  std::string path;  ///< where it came from; "" for memory
  std::int64_t ir_version = 0;
  std::map<std::string, std::int64_t> opsets;  ///< as the file imported them, by domain ("" is ai.onnx)
  std::string producer_name, producer_version, domain, doc_string;
  std::int64_t model_version = 0;
  std::map<std::string, std::string> metadata;
  Graph graph;
  std::vector<Tensor> constants;  ///< by ConstId; may lie in the mapped file
  SymbolTable symbols;

  ConstId add_constant(Tensor tensor) {
    constants.push_back(std::move(tensor));
    return static_cast<ConstId>(constants.size() - 1);
  }
  const Tensor& constant(ConstId id) const { return constants[static_cast<std::size_t>(id)]; }
  /// Adds the tensor and a value of `graph` that stands for it.
  ValueId add_constant_value(Graph& in_graph, std::string name, Tensor tensor);
  /// The constant behind a value of `graph`, or null.
  const Tensor* constant_of(const Graph& in_graph, ValueId value) const;
};

/// A readable listing, one node a line, subgraphs indented: for tests and debugging.
std::string to_text(const Model& model);

/// Checks what every stage relies on: single assignment, order, ids in range, subgraphs' inputs match captures. Throws
/// kInternal naming the place.
void verify(const Model& model);

}  // namespace sardonyx::graph
