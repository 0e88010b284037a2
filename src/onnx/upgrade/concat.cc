#include "onnx/upgrade/upgrade_list.h"

namespace sardonyx::onnx {

/// Until opset 3 the axis could be left out and was 1.
void upgrade_concat(Upgrader& upgrader, Node node) {
  if (!node.attributes.has("axis")) node.attributes.set("axis", std::int64_t{1});
  upgrader.emit(std::move(node));
}

}  // namespace sardonyx::onnx
