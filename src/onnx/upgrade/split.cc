#include "onnx/upgrade/upgrade_list.h"

namespace sardonyx::onnx {

/// Until opset 12 the lengths were an attribute (in opset 1 also an input of the data's type); until 17 equal parts
/// were asked for by leaving them out.
void upgrade_split(Upgrader& upgrader, Node node) {
  constexpr std::int64_t kFirstWithInput = 13;
  const bool has_input = node.has_input(1);
  node.inputs.resize(has_input ? 2 : 1, graph::kNoValue);
  if (const std::vector<std::int64_t>* lengths = node.attributes.ints("split"); lengths && !has_input) {
    node.inputs.push_back(upgrader.ints(*lengths));
  } else if (has_input && upgrader.version() < kFirstWithInput) {
    node.inputs[1] =
        upgrader.add("Cast", {node.inputs[1]}, attributes_of({{"to", static_cast<std::int64_t>(ElementType::kInt64)}}));
  }
  node.attributes.erase("split");
  if (!node.has_input(1)) node.attributes.set("num_outputs", static_cast<std::int64_t>(node.outputs.size()));
  upgrader.emit(std::move(node));
}

}  // namespace sardonyx::onnx
