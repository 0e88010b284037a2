#include "base/fail.h"
#include "onnx/upgrade/upgrade_list.h"

namespace sardonyx::onnx {
namespace {

/// Repeats each of [groups] values for the channels of its group: [channels]. `repeats` is int64 [2]: 1 and channels /
/// groups.
ValueId per_channel(Upgrader& upgrader, ValueId per_group, ValueId repeats) {
  const ValueId column = upgrader.add("Unsqueeze", {per_group, upgrader.ints({1})});
  return upgrader.add("Reshape", {upgrader.add("Expand", {column, repeats}), upgrader.ints({-1})});
}

ValueId repeats_of(Upgrader& upgrader, ValueId x, std::int64_t groups) {
  const ValueType& type = upgrader.type(x);
  if (type.has_rank && type.rank() > 1 && type.dims[1].is_constant()) {
    const std::int64_t channels = type.dims[1].constant();
    if (groups < 1 || channels % groups != 0)
      fail(ErrorCode::kInvalidModel, "{} channels can't be divided into {} groups", channels, groups);
    return upgrader.ints({1, channels / groups});
  }
  const ValueId channels =
      upgrader.add("Shape", {x}, attributes_of({{"start", std::int64_t{1}}, {"end", std::int64_t{2}}}));
  const ValueId size = upgrader.add("Div", {channels, upgrader.ints({groups})});
  return upgrader.add("Concat", {upgrader.ints({1}), size}, attributes_of({{"axis", std::int64_t{0}}}));
}

}  // namespace

/// Until opset 20 scale and bias were per group; they are per channel now.
void upgrade_group_normalization(Upgrader& upgrader, Node node) {
  const std::int64_t groups = node.attributes.get_int("num_groups");
  node.inputs.resize(3, graph::kNoValue);
  const ValueId repeats = repeats_of(upgrader, node.inputs[0], groups);
  for (std::size_t i : {1, 2}) {
    if (node.inputs[i] != graph::kNoValue) node.inputs[i] = per_channel(upgrader, node.inputs[i], repeats);
  }
  upgrader.emit(std::move(node));
}

}  // namespace sardonyx::onnx
