#include <algorithm>

#include "base/fail.h"
#include "onnx/upgrade/upgrade_list.h"

namespace sardonyx::onnx {
namespace {

using graph::kNoValue;

/// Y = (X - mean) / sqrt(var + epsilon) * scale + B with statistics per activation, shaped like X without its batch.
void emit_per_activation(Upgrader& upgrader, const Node& node, float epsilon) {
  const ValueId x = node.input(0), scale = node.input(1), bias = node.input(2), mean = node.input(3),
                var = node.input(4);
  const ValueId centred = upgrader.add("Sub", {x, mean});
  const ValueId deviation = upgrader.add("Sqrt", {upgrader.add("Add", {var, upgrader.scalar_like(epsilon, x)})});
  const ValueId normal = upgrader.add("Div", {centred, deviation});
  Node last = node;
  last.outputs.resize(1);
  upgrader.add_as(last, "Add", {upgrader.add("Mul", {normal, scale}), bias});
}

Node named_output(const Node& node, std::size_t output) {
  Node one;
  one.name = node.name;
  one.outputs = {node.outputs[output]};
  return one;
}

/// Outputs 3 and 4 of training, which later versions no longer have: the batch's own mean and variance.
void emit_batch_statistics(Upgrader& upgrader, const Node& node, bool wants_mean, bool wants_variance) {
  const ValueId x = node.input(0);
  const std::optional<std::size_t> rank = upgrader.rank(x);
  if (!rank) fail(ErrorCode::kUnsupported, "saved_mean and saved_var are only supported where the rank of X is known");
  std::vector<std::int64_t> axes;
  for (std::size_t i = 0; i < *rank; ++i) {
    if (i != 1) axes.push_back(static_cast<std::int64_t>(i));
  }
  const auto reduce = [&](std::int64_t keepdims) { return attributes_of({{"keepdims", keepdims}}); };
  if (wants_mean) upgrader.add_as(named_output(node, 3), "ReduceMean", {x, upgrader.ints(axes)}, reduce(0));
  if (!wants_variance) return;
  const ValueId centred = upgrader.add("Sub", {x, upgrader.add("ReduceMean", {x, upgrader.ints(axes)}, reduce(1))});
  const ValueId squares = upgrader.add("Mul", {centred, centred});
  upgrader.add_as(named_output(node, 4), "ReduceMean", {squares, upgrader.ints(axes)}, reduce(0));
}

/// In test mode the statistics come out as they went in.
void emit_unchanged_statistics(Upgrader& upgrader, const Node& node) {
  for (std::size_t i = 1; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;
    upgrader.add_as(named_output(node, i), "Identity", {node.input(i % 2 == 1 ? 3 : 4)});
  }
}

}  // namespace

/// Until 6 `is_test` says whether statistics are given, in 7 and 9 the number of outputs does; until 8 `spatial` = 0
/// asks for statistics per activation; until 13 there may be five outputs.
void upgrade_batch_normalization(Upgrader& upgrader, Node node) {
  constexpr std::int64_t kFirstByOutputs = 7;
  if (node.outputs.size() > 5) fail(ErrorCode::kInvalidModel, "BatchNormalization has {} outputs", node.outputs.size());
  bool has_more_outputs = false;
  for (std::size_t i = 1; i < node.outputs.size(); ++i) has_more_outputs |= node.outputs[i] != kNoValue;
  const bool is_training =
      upgrader.version() < kFirstByOutputs ? node.attributes.get_int("is_test", 0) == 0 : has_more_outputs;
  const bool is_spatial = node.attributes.get_int("spatial", 1) != 0;
  const float epsilon = node.attributes.get_float("epsilon", 1e-5f);
  node.attributes.erase("is_test");
  node.attributes.erase("spatial");
  if (!is_spatial && is_training) fail(ErrorCode::kUnsupported, "training with spatial = 0 is not supported");
  if (is_training) {
    const auto wants = [&](std::size_t i) { return i < node.outputs.size() && node.outputs[i] != kNoValue; };
    if (wants(3) || wants(4)) emit_batch_statistics(upgrader, node, wants(3), wants(4));
    node.attributes.set("training_mode", std::int64_t{1});
    node.outputs.resize(std::min<std::size_t>(node.outputs.size(), 3));
    return upgrader.emit(std::move(node));
  }
  emit_unchanged_statistics(upgrader, node);
  if (!is_spatial) return emit_per_activation(upgrader, node, epsilon);
  node.outputs.resize(std::min<std::size_t>(node.outputs.size(), 1));
  upgrader.emit(std::move(node));
}

}  // namespace sardonyx::onnx
