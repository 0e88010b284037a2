#include "onnx/upgrade/upgrade_list.h"

namespace sardonyx::onnx {

/// Until opset 5 a tensor was repeated `tiles` times (input 1, of the data's type) along `axis` (input 2, likewise).
void upgrade_tile(Upgrader& upgrader, Node node) {
  const Attributes to_int64 = attributes_of({{"to", static_cast<std::int64_t>(ElementType::kInt64)}});
  const auto as_vector = [&](ValueId scalar) {
    return upgrader.add("Reshape", {upgrader.add("Cast", {scalar}, to_int64), upgrader.ints({1})});
  };
  const ValueId tiles = as_vector(node.input(1));
  const ValueId axis = as_vector(node.input(2));
  const ValueId ones = upgrader.ones(upgrader.rank_of(node.input(0)));
  const ValueId repeats = upgrader.add("ScatterElements", {ones, axis, tiles});
  upgrader.add_as(node, "Tile", {node.input(0), repeats});
}

}  // namespace sardonyx::onnx
