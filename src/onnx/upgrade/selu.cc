#include "onnx/upgrade/upgrade_list.h"

namespace sardonyx::onnx {

/// Until opset 5 the constants had fewer digits.
void upgrade_selu(Upgrader& upgrader, Node node) {
  if (!node.attributes.has("alpha")) node.attributes.set("alpha", 1.6732f);
  if (!node.attributes.has("gamma")) node.attributes.set("gamma", 1.0507f);
  upgrader.emit(std::move(node));
}

}  // namespace sardonyx::onnx
