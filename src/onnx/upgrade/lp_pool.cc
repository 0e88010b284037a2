#include <cmath>

#include "base/fail.h"
#include "onnx/upgrade/upgrade_list.h"

namespace sardonyx::onnx {

/// In opset 1 `p` was a float.
void upgrade_lp_pool(Upgrader& upgrader, Node node) {
  const graph::Attribute* p = node.attributes.find("p");
  if (p && std::holds_alternative<float>(*p)) {
    const float value = std::get<float>(*p);
    if (!(value >= 1 && value < 1e6f) || std::floor(value) != value) {
      fail(ErrorCode::kUnsupported, "attribute 'p' must be a whole number, but is {}", value);
    }
    node.attributes.set("p", static_cast<std::int64_t>(value));
  }
  upgrader.emit(std::move(node));
}

}  // namespace sardonyx::onnx
