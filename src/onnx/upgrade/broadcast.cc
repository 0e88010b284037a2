#include "base/fail.h"
#include "onnx/upgrade/upgrade_list.h"

namespace sardonyx::onnx {
namespace {

/// Appends `count` dimensions of 1.
ValueId append_ones(Upgrader& upgrader, ValueId value, std::size_t rank, std::size_t count) {
  std::vector<std::int64_t> axes;
  for (std::size_t i = 0; i < count; ++i) axes.push_back(static_cast<std::int64_t>(rank + i));
  return upgrader.add("Unsqueeze", {value, upgrader.ints(axes)});
}

/// The same where the number is an int64 [1] computed at run time.
ValueId append_ones(Upgrader& upgrader, ValueId value, ValueId count) {
  const ValueId shape = upgrader.add("Concat", {upgrader.shape_of(value), upgrader.ones(count)},
                                     attributes_of({{"axis", std::int64_t{0}}}));
  return upgrader.add("Reshape", {value, shape});
}

/// B's first dimension stands at A's `axis`: B gets dimensions of 1 behind, so that it broadcasts from the right.
ValueId align(Upgrader& upgrader, ValueId a, ValueId b, std::int64_t axis) {
  const std::optional<std::size_t> rank_a = upgrader.rank(a);
  const std::optional<std::size_t> rank_b = upgrader.rank(b);
  if (rank_a && axis < 0) axis += static_cast<std::int64_t>(*rank_a);
  if (rank_a && rank_b) {
    const std::int64_t missing = static_cast<std::int64_t>(*rank_a) - axis - static_cast<std::int64_t>(*rank_b);
    if (axis < 0 || missing < 0) {
      fail(ErrorCode::kInvalidModel, "a tensor of rank {} cannot be broadcast into one of rank {} at axis {}", *rank_b,
           *rank_a, axis);
    }
    return missing == 0 ? b : append_ones(upgrader, b, *rank_b, static_cast<std::size_t>(missing));
  }
  const ValueId after_axis =
      axis < 0 ? upgrader.ints({-axis}) : upgrader.add("Sub", {upgrader.rank_of(a), upgrader.ints({axis})});
  return append_ones(upgrader, b, upgrader.add("Sub", {after_axis, upgrader.rank_of(b)}));
}

}  // namespace

/// Until opset 6 broadcasting was asked for by `broadcast` and placed by `axis`; without `axis` it was from the right,
/// as now.
void upgrade_binary_broadcast(Upgrader& upgrader, Node node) {
  const bool has_axis = node.attributes.get_int("broadcast", 0) != 0 && node.attributes.has("axis");
  if (has_axis && node.has_input(0) && node.has_input(1)) {
    node.inputs[1] = align(upgrader, node.inputs[0], node.inputs[1], node.attributes.get_int("axis"));
  }
  node.attributes.erase("broadcast");
  node.attributes.erase("axis");
  upgrader.emit(std::move(node));
}

/// Until opset 6 a slope of rank 1 stood for the channels, axis 1 of X.
void upgrade_prelu(Upgrader& upgrader, Node node) {
  if (node.has_input(0) && node.has_input(1)) {
    const std::optional<std::size_t> rank = upgrader.rank(node.inputs[0]);
    const std::optional<std::size_t> slope_rank = upgrader.rank(node.inputs[1]);
    const bool is_vector = !slope_rank || *slope_rank == 1;
    if (is_vector && rank && *rank > 2) {
      if (!slope_rank) node.inputs[1] = upgrader.add("Reshape", {node.inputs[1], upgrader.ints({-1})});
      node.inputs[1] = append_ones(upgrader, node.inputs[1], 1, *rank - 2);
    } else if (is_vector && !rank) {
      const ValueId behind = upgrader.add("Sub", {upgrader.rank_of(node.inputs[0]), upgrader.ints({2})});
      const ValueId slope = upgrader.add("Reshape", {node.inputs[1], upgrader.ints({-1})});
      node.inputs[1] = append_ones(upgrader, slope, upgrader.add("Max", {behind, upgrader.ints({0})}));
    }
  }
  upgrader.emit(std::move(node));
}

/// Until opset 6 C was broadcast, from the right, only where asked for.
void upgrade_gemm(Upgrader& upgrader, Node node) {
  node.attributes.erase("broadcast");
  upgrader.emit(std::move(node));
}

}  // namespace sardonyx::onnx
