// Operators that ONNX once had as experimental ones and that old converters wrote.

#include <limits>

#include "base/fail.h"
#include "onnx/upgrade/upgrade_list.h"

namespace sardonyx::onnx {

/// alpha * x + beta
void upgrade_affine(Upgrader& upgrader, Node node) {
  const ValueId x = node.input(0);
  const ValueId scaled = upgrader.add("Mul", {x, upgrader.scalar_like(node.attributes.get_float("alpha", 1), x)});
  upgrader.add_as(node, "Add", {scaled, upgrader.scalar_like(node.attributes.get_float("beta", 0), x)});
}

/// scale * x
void upgrade_scale(Upgrader& upgrader, Node node) {
  const ValueId x = node.input(0);
  upgrader.add_as(node, "Mul", {x, upgrader.scalar_like(node.attributes.get_float("scale", 1), x)});
}

/// alpha * tanh(beta * x)
void upgrade_scaled_tanh(Upgrader& upgrader, Node node) {
  const ValueId x = node.input(0);
  const ValueId scaled = upgrader.add("Mul", {x, upgrader.scalar_like(node.attributes.get_float("beta", 1), x)});
  upgrader.add_as(node, "Mul",
                  {upgrader.add("Tanh", {scaled}), upgrader.scalar_like(node.attributes.get_float("alpha", 1), x)});
}

/// alpha * softplus(beta * x)
void upgrade_parametric_softplus(Upgrader& upgrader, Node node) {
  const ValueId x = node.input(0);
  const ValueId scaled = upgrader.add("Mul", {x, upgrader.scalar_like(node.attributes.get_float("beta", 1), x)});
  upgrader.add_as(node, "Mul",
                  {upgrader.add("Softplus", {scaled}), upgrader.scalar_like(node.attributes.get_float("alpha", 1), x)});
}

/// scale * x + bias[channel], x being [N, C, H, W]
void upgrade_image_scaler(Upgrader& upgrader, Node node) {
  const ValueId x = node.input(0);
  const std::vector<float>* bias = node.attributes.floats("bias");
  if (!bias) fail(ErrorCode::kInvalidModel, "attribute 'bias' is required and missing");
  const ValueId scaled = upgrader.add("Mul", {x, upgrader.scalar_like(node.attributes.get_float("scale", 1), x)});
  const ValueId typed = upgrader.add("CastLike", {upgrader.floats(*bias), x});
  upgrader.add_as(node, "Add", {scaled, upgrader.add("Unsqueeze", {typed, upgrader.ints({1, 2})})});
}

/// x without a border of [left, top, right, bottom], or `scale` = [height, width] of it from the border's corner on
void upgrade_crop(Upgrader& upgrader, Node node) {
  const std::vector<std::int64_t> border = node.attributes.get_ints("border", {});
  const std::vector<std::int64_t> size = node.attributes.get_ints("scale", {});
  if (border.size() != 4 || (!size.empty() && size.size() != 2)) {
    fail(ErrorCode::kInvalidModel, "Crop needs a border of 4 numbers and a scale of 2 or none, but has {} and {}",
         border.size(), size.size());
  }
  const auto end = [&](std::size_t axis) {
    if (!size.empty()) return border[1 - axis] + size[axis];
    const std::int64_t behind = border[3 - axis];
    return behind == 0 ? std::numeric_limits<std::int64_t>::max() : -behind;
  };
  upgrader.add_as(
      node, "Slice",
      {node.input(0), upgrader.ints({border[1], border[0]}), upgrader.ints({end(0), end(1)}), upgrader.ints({2, 3})});
}

}  // namespace sardonyx::onnx
