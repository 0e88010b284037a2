#include "onnx/upgrade/upgrade_list.h"

namespace sardonyx::onnx {

/// Until opset 9 k was an attribute.
void upgrade_top_k(Upgrader& upgrader, Node node) {
  node.inputs.resize(1, graph::kNoValue);
  node.inputs.push_back(upgrader.ints({node.attributes.get_int("k")}));
  node.attributes.erase("k");
  upgrader.emit(std::move(node));
}

}  // namespace sardonyx::onnx
