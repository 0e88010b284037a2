#include "onnx/upgrade/upgrade_list.h"

namespace sardonyx::onnx {

/// Until opset 12 (Reduce* other than ReduceSum: 17) the axes were an attribute.
void upgrade_axes_attribute(Upgrader& upgrader, Node node) {
  if (const std::vector<std::int64_t>* axes = node.attributes.ints("axes")) {
    node.inputs.resize(1, graph::kNoValue);
    if (!axes->empty()) node.inputs.push_back(upgrader.ints(*axes));  // none: all of them, then and now
    node.attributes.erase("axes");
  }
  upgrader.emit(std::move(node));
}

}  // namespace sardonyx::onnx
