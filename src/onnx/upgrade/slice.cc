#include "base/fail.h"
#include "onnx/upgrade/upgrade_list.h"

namespace sardonyx::onnx {

/// Until opset 9 starts, ends and axes were attributes.
void upgrade_slice(Upgrader& upgrader, Node node) {
  node.inputs.resize(1, graph::kNoValue);
  for (const char* name : {"starts", "ends", "axes"}) {
    const std::vector<std::int64_t>* values = node.attributes.ints(name);
    if (values) {
      node.inputs.push_back(upgrader.ints(*values));
    } else if (name[0] != 'a') {
      fail(ErrorCode::kInvalidModel, "attribute '{}' is required and missing", name);
    }
    node.attributes.erase(name);
  }
  upgrader.emit(std::move(node));
}

}  // namespace sardonyx::onnx
