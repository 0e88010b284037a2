#include "onnx/upgrade/upgrade_list.h"

namespace sardonyx::onnx {

/// Until opset 19 the modes were named after images.
void upgrade_grid_sample(Upgrader& upgrader, Node node) {
  const std::string mode = node.attributes.get_string("mode", "bilinear");
  if (mode == "bilinear") node.attributes.set("mode", std::string("linear"));
  if (mode == "bicubic") node.attributes.set("mode", std::string("cubic"));
  upgrader.emit(std::move(node));
}

}  // namespace sardonyx::onnx
