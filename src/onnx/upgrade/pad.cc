#include "base/fail.h"
#include "onnx/upgrade/upgrade_list.h"

namespace sardonyx::onnx {

/// Until opset 10 pads (in opset 1: `paddings`) and value were attributes.
void upgrade_pad(Upgrader& upgrader, Node node) {
  const char* name = node.attributes.has("paddings") ? "paddings" : "pads";
  const std::vector<std::int64_t>* pads = node.attributes.ints(name);
  if (!pads) fail(ErrorCode::kInvalidModel, "attribute '{}' is required and missing", name);
  const float value = node.attributes.get_float("value", 0);
  node.inputs.resize(1, graph::kNoValue);
  node.inputs.push_back(upgrader.ints(*pads));
  if (value != 0) node.inputs.push_back(upgrader.scalar_like(value, node.inputs[0]));
  node.attributes.erase(name);
  node.attributes.erase("value");
  upgrader.emit(std::move(node));
}

}  // namespace sardonyx::onnx
