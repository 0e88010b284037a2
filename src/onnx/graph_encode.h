#pragma once

#include <set>
#include <string>
#include <vector>

#include "graph/model.h"

namespace sardonyx::onnx {

/// A constant of the model's graph, to be written behind the rest of it.
struct NamedConstant {
  std::string name;
  const Tensor* tensor;
};

/// The model's graph, serialized but for its large or shared constants.
struct EncodedGraph {
  std::string message;  ///< a GraphProto, to which initializers may be appended
  std::vector<NamedConstant> constants;
  std::set<std::string> domains;  ///< of its operators
};

EncodedGraph encode_graph(const graph::Model& model);

}  // namespace sardonyx::onnx
