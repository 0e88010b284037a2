#include "onnx/upgrade/upgrade_list.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace sardonyx::onnx {
namespace {

struct UpgradeRow {
  std::string_view domain, op_type;
  std::int64_t before;  ///< the first version that needs no upgrade
  UpgradeFn upgrade;
};

/// The newest opset no longer has the operator.
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

// Sorted by domain and operator.
constexpr UpgradeRow kRows[] = {
    {"", "Add", 7, upgrade_binary_broadcast},
    {"", "Affine", kNever, upgrade_affine},
    {"", "And", 7, upgrade_binary_broadcast},
    {"", "BatchNormalization", 14, upgrade_batch_normalization},
    {"", "Cast", 6, upgrade_cast},
    {"", "Clip", 11, upgrade_clip},
    {"", "Concat", 4, upgrade_concat},
    {"", "Crop", kNever, upgrade_crop},
    {"", "DFT", 20, upgrade_dft},
    {"", "Div", 7, upgrade_binary_broadcast},
    {"", "Dropout", 12, upgrade_dropout},
    {"", "Equal", 7, upgrade_binary_broadcast},
    {"", "GRU", 7, upgrade_recurrent},
    {"", "Gemm", 7, upgrade_gemm},
    {"", "GlobalLpPool", 2, upgrade_lp_pool},
    {"", "Greater", 7, upgrade_binary_broadcast},
    {"", "GridSample", 20, upgrade_grid_sample},
    {"", "GroupNormalization", 21, upgrade_group_normalization},
    {"", "Hardmax", 13, upgrade_softmax},
    {"", "ImageScaler", kNever, upgrade_image_scaler},
    {"", "LSTM", 7, upgrade_recurrent},
    {"", "Less", 7, upgrade_binary_broadcast},
    {"", "LogSoftmax", 13, upgrade_softmax},
    {"", "LpPool", 2, upgrade_lp_pool},
    {"", "Mul", 7, upgrade_binary_broadcast},
    {"", "Or", 7, upgrade_binary_broadcast},
    {"", "PRelu", 7, upgrade_prelu},
    {"", "Pad", 11, upgrade_pad},
    {"", "ParametricSoftplus", kNever, upgrade_parametric_softplus},
    {"", "Pow", 7, upgrade_binary_broadcast},
    {"", "RNN", 7, upgrade_recurrent},
    {"", "ReduceL1", 18, upgrade_axes_attribute},
    {"", "ReduceL2", 18, upgrade_axes_attribute},
    {"", "ReduceLogSum", 18, upgrade_axes_attribute},
    {"", "ReduceLogSumExp", 18, upgrade_axes_attribute},
    {"", "ReduceMax", 18, upgrade_axes_attribute},
    {"", "ReduceMean", 18, upgrade_axes_attribute},
    {"", "ReduceMin", 18, upgrade_axes_attribute},
    {"", "ReduceProd", 18, upgrade_axes_attribute},
    {"", "ReduceSum", 13, upgrade_axes_attribute},
    {"", "ReduceSumSquare", 18, upgrade_axes_attribute},
    {"", "Reshape", 5, upgrade_reshape},
    {"", "Resize", 19, upgrade_resize},
    {"", "RoiAlign", 16, upgrade_roi_align},
    {"", "Scale", kNever, upgrade_scale},
    {"", "ScaledTanh", kNever, upgrade_scaled_tanh},
    {"", "Scan", 9, upgrade_scan},
    {"", "Scatter", kNever, upgrade_scatter},
    {"", "Selu", 6, upgrade_selu},
    {"", "Slice", 10, upgrade_slice},
    {"", "Softmax", 13, upgrade_softmax},
    {"", "Split", 18, upgrade_split},
    {"", "Squeeze", 13, upgrade_axes_attribute},
    {"", "Sub", 7, upgrade_binary_broadcast},
    {"", "Tile", 6, upgrade_tile},
    {"", "TopK", 10, upgrade_top_k},
    {"", "Unsqueeze", 13, upgrade_axes_attribute},
    {"", "Upsample", kNever, upgrade_upsample},
    {"", "Xor", 7, upgrade_binary_broadcast},
    {"ai.onnx.ml", "LabelEncoder", 2, upgrade_label_encoder},
    {"ai.onnx.preview", "FlexAttention", kNever, upgrade_flex_attention},
};

constexpr bool precedes(const UpgradeRow& a, const UpgradeRow& b) {
  return a.domain != b.domain ? a.domain < b.domain : a.op_type < b.op_type;
}
static_assert(std::is_sorted(std::begin(kRows), std::end(kRows), precedes));

}  // namespace

UpgradeFn find_upgrade(std::string_view domain, std::string_view op_type, std::int64_t version) {
  const UpgradeRow wanted{domain, op_type, 0, nullptr};
  const UpgradeRow* row = std::lower_bound(std::begin(kRows), std::end(kRows), wanted, precedes);
  const bool found = row != std::end(kRows) && row->domain == domain && row->op_type == op_type;
  return found && version < row->before ? row->upgrade : nullptr;
}

}  // namespace sardonyx::onnx
