#include "onnx/upgrade/upgrade_list.h"

namespace sardonyx::onnx {

/// Until opset 10 the bounds were attributes.
void upgrade_clip(Upgrader& upgrader, Node node) {
  const ValueId x = node.input(0);
  node.inputs = {x};
  for (const char* bound : {"min", "max"}) {
    const bool given = node.attributes.has(bound);
    node.inputs.push_back(given ? upgrader.scalar_like(node.attributes.get_float(bound), x) : graph::kNoValue);
    node.attributes.erase(bound);
  }
  upgrader.emit(std::move(node));
}

}  // namespace sardonyx::onnx
