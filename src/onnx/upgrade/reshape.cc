#include "onnx/upgrade/upgrade_list.h"

namespace sardonyx::onnx {

/// Until opset 4 the shape was an attribute.
void upgrade_reshape(Upgrader& upgrader, Node node) {
  node.inputs.resize(1, graph::kNoValue);
  node.inputs.push_back(upgrader.ints(node.attributes.get_ints("shape", {})));
  node.attributes.erase("shape");
  upgrader.emit(std::move(node));
}

}  // namespace sardonyx::onnx
