#include <algorithm>

#include "base/fail.h"
#include "onnx/upgrade/upgrade_list.h"

namespace sardonyx::onnx {
namespace {

constexpr std::int64_t kFirstWithCoordinates = 11;  ///< Resize
constexpr std::int64_t kFirstWithScales = 7;        ///< Upsample
constexpr std::int64_t kFirstWithScalesInput = 9;   ///< Upsample

/// The source of output position i was i / scale, rounded down; where it shrinks, rounded up, as those who wrote such
/// models ran them.
void emit_asymmetric(Upgrader& upgrader, const Node& node, ValueId scales) {
  std::string mode = node.attributes.get_string("mode", "nearest");
  if (mode == "bilinear" || mode == "trilinear") mode = "linear";
  bool shrinks = false;
  if (const Tensor* known = upgrader.constant(scales); known && known->type() == ElementType::kFloat32) {
    const auto values = known->span<float>();
    shrinks = std::any_of(values.begin(), values.end(), [](float s) { return s < 1; }) &&
              std::all_of(values.begin(), values.end(), [](float s) { return s <= 1; });
  }
  Attributes attributes =
      attributes_of({{"mode", mode}, {"coordinate_transformation_mode", std::string("asymmetric")}});
  if (mode == "nearest") attributes.set("nearest_mode", std::string(shrinks ? "ceil" : "floor"));
  upgrader.add_as(node, "Resize", {node.input(0), graph::kNoValue, scales}, std::move(attributes));
}

/// An input that is known to be empty stands for one that is left out.
void drop_if_empty(Upgrader& upgrader, Node& node, std::size_t input) {
  const Tensor* known = upgrader.constant(node.input(input));
  if (known && known->num_elements() == 0) node.inputs[input] = graph::kNoValue;
}

}  // namespace

/// Until opset 10 there were no coordinate modes; 11 and 12 had tf_half_pixel_for_nn; until 18 scales or sizes could be
/// empty.
void upgrade_resize(Upgrader& upgrader, Node node) {
  if (upgrader.version() < kFirstWithCoordinates) return emit_asymmetric(upgrader, node, node.input(1));
  for (std::size_t i : {1, 2, 3}) drop_if_empty(upgrader, node, i);
  if (node.attributes.get_string("coordinate_transformation_mode", "half_pixel") == "tf_half_pixel_for_nn") {
    if (node.attributes.get_string("mode", "nearest") != "nearest" ||
        node.attributes.get_string("nearest_mode", "round_prefer_floor") != "floor") {
      fail(ErrorCode::kUnsupported,
           "tf_half_pixel_for_nn is supported with mode 'nearest' and nearest_mode 'floor' only");
    }
    // floor((i + 0.5) / scale) is ((i + 0.5) / scale - 0.5) rounded, halves up
    node.attributes.set("coordinate_transformation_mode", std::string("half_pixel"));
    node.attributes.set("nearest_mode", std::string("round_prefer_ceil"));
  }
  upgrader.emit(std::move(node));
}

/// Upsample became Resize in opset 10.
void upgrade_upsample(Upgrader& upgrader, Node node) {
  if (upgrader.version() >= kFirstWithScalesInput) return emit_asymmetric(upgrader, node, node.input(1));
  if (upgrader.version() < kFirstWithScales) {
    const float height = node.attributes.get_float("height_scale");
    return emit_asymmetric(upgrader, node, upgrader.floats({1, 1, height, node.attributes.get_float("width_scale")}));
  }
  const std::vector<float>* scales = node.attributes.floats("scales");
  if (!scales) fail(ErrorCode::kInvalidModel, "attribute 'scales' is required and missing");
  emit_asymmetric(upgrader, node, upgrader.floats(*scales));
}

}  // namespace sardonyx::onnx
