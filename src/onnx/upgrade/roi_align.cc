#include "onnx/upgrade/upgrade_list.h"

namespace sardonyx::onnx {

/// Until opset 15 the input's coordinates were not shifted by half a pixel.
void upgrade_roi_align(Upgrader& upgrader, Node node) {
  node.attributes.set("coordinate_transformation_mode", std::string("output_half_pixel"));
  upgrader.emit(std::move(node));
}

}  // namespace sardonyx::onnx
