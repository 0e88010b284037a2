#include "onnx/upgrade/upgrade_list.h"

namespace sardonyx::onnx {

/// Scatter was renamed in opset 11.
void upgrade_scatter(Upgrader& upgrader, Node node) {
  node.op_type = "ScatterElements";
  upgrader.emit(std::move(node));
}

}  // namespace sardonyx::onnx
