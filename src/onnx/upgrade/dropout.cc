#include "onnx/upgrade/upgrade_list.h"

namespace sardonyx::onnx {
namespace {

constexpr std::int64_t kFirstWithoutTraining = 7;
constexpr std::int64_t kFirstWithBoolMask = 10;

/// The mask had the data's type: `node`'s output 1 becomes a bool, converted into the old value.
void convert_mask(Upgrader& upgrader, Node node) {
  const ValueId old_mask = node.outputs[1];
  const ValueId data = node.input(0);
  node.outputs[1] = upgrader.graph().add_value(upgrader.graph().value(old_mask).name + "/bool");
  Node conversion;
  conversion.name = node.name + "/mask";
  conversion.outputs = {old_mask};
  const ValueId mask = node.outputs[1];
  upgrader.emit(std::move(node));
  upgrader.add_as(conversion, "CastLike", {mask, data});
}

}  // namespace

/// Until opset 11 the ratio was an attribute; until 6 training was said by is_test = 0, from 7 to 11 nodes never
/// trained.
void upgrade_dropout(Upgrader& upgrader, Node node) {
  const bool is_training = upgrader.version() < kFirstWithoutTraining && node.attributes.get_int("is_test", 0) == 0;
  const float ratio = node.attributes.get_float("ratio", 0.5f);
  node.attributes.erase("is_test");
  node.attributes.erase("ratio");
  node.inputs.resize(1, graph::kNoValue);
  if (is_training) {
    node.inputs.push_back(upgrader.add_constant(Tensor::scalar(ratio)));
    node.inputs.push_back(upgrader.add_constant(Tensor::scalar(true)));
  }
  const bool has_mask = node.outputs.size() > 1 && node.outputs[1] != graph::kNoValue;
  if (has_mask && upgrader.version() < kFirstWithBoolMask) return convert_mask(upgrader, std::move(node));
  upgrader.emit(std::move(node));
}

}  // namespace sardonyx::onnx
