#include "onnx/upgrade/upgrade_list.h"

namespace sardonyx::onnx {

/// Until opset 6 `output_sequence` said whether Y is wanted; its presence among the outputs says so as well.
void upgrade_recurrent(Upgrader& upgrader, Node node) {
  node.attributes.erase("output_sequence");
  upgrader.emit(std::move(node));
}

}  // namespace sardonyx::onnx
