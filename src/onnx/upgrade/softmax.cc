#include "onnx/upgrade/upgrade_list.h"

namespace sardonyx::onnx {

/// Until opset 12, Softmax, LogSoftmax and Hardmax worked on the matrix that flattening at `axis` (1 where left out)
/// gives.
void upgrade_softmax(Upgrader& upgrader, Node node) {
  const std::int64_t axis = node.attributes.get_int("axis", 1);
  const std::optional<std::size_t> rank = upgrader.rank(node.input(0));
  const bool is_last = axis == -1 || (rank && axis + 1 == static_cast<std::int64_t>(*rank));
  node.attributes.set("axis", std::int64_t{-1});
  if (is_last) return upgrader.emit(std::move(node));
  const ValueId shape = upgrader.shape_of(node.input(0));
  const ValueId matrix = upgrader.add("Flatten", {node.input(0)}, attributes_of({{"axis", axis}}));
  const ValueId result = upgrader.add(node.op_type.c_str(), {matrix}, node.attributes);
  upgrader.add_as(node, "Reshape", {result, shape});
}

}  // namespace sardonyx::onnx
