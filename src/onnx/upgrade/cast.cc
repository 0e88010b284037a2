#include <algorithm>

#include "base/fail.h"
#include "onnx/upgrade/upgrade_list.h"

namespace sardonyx::onnx {

/// Until opset 5 `to` was the type's name, such as "FLOAT16".
void upgrade_cast(Upgrader& upgrader, Node node) {
  const graph::Attribute* to = node.attributes.find("to");
  if (to && std::holds_alternative<std::string>(*to)) {
    std::string wanted = std::get<std::string>(*to);
    std::transform(wanted.begin(), wanted.end(), wanted.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    std::int64_t number = 1;
    while (number < kElementTypeCount && name(static_cast<ElementType>(number)) != wanted) ++number;
    if (number == kElementTypeCount) fail(ErrorCode::kInvalidModel, "attribute 'to': '{}' is no element type", wanted);
    node.attributes.set("to", number);
  }
  upgrader.emit(std::move(node));
}

}  // namespace sardonyx::onnx
