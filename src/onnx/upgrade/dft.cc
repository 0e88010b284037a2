#include "onnx/upgrade/upgrade_list.h"

namespace sardonyx::onnx {

/// Until opset 19 the axis was an attribute, 1 where left out; it is an input now, -2 where left out.
void upgrade_dft(Upgrader& upgrader, Node node) {
  const ValueId axis = upgrader.int_scalar(node.attributes.get_int("axis", 1));
  node.attributes.erase("axis");
  node.inputs.resize(2, graph::kNoValue);
  node.inputs.push_back(axis);
  upgrader.emit(std::move(node));
}

}  // namespace sardonyx::onnx
