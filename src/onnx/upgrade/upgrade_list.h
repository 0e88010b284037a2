#pragma once

#include <cstdint>
#include <string_view>

#include "onnx/upgrade/upgrader.h"

namespace sardonyx::onnx {

using UpgradeFn = void (*)(Upgrader& upgrader, Node node);

/// The upgrade of an operator in a version, or null where that version means what the newest does.
UpgradeFn find_upgrade(std::string_view domain, std::string_view op_type, std::int64_t version);

// Each in the .cc of the operator's or family's name; the table in upgrade_list.cc says for which versions.
void upgrade_batch_normalization(Upgrader& upgrader, Node node);
void upgrade_binary_broadcast(Upgrader& upgrader, Node node);  // broadcast.cc
void upgrade_prelu(Upgrader& upgrader, Node node);             // broadcast.cc
void upgrade_gemm(Upgrader& upgrader, Node node);              // broadcast.cc
void upgrade_cast(Upgrader& upgrader, Node node);
void upgrade_clip(Upgrader& upgrader, Node node);
void upgrade_concat(Upgrader& upgrader, Node node);
void upgrade_dft(Upgrader& upgrader, Node node);
void upgrade_dropout(Upgrader& upgrader, Node node);
void upgrade_affine(Upgrader& upgrader, Node node);               // experimental.cc
void upgrade_scale(Upgrader& upgrader, Node node);                // experimental.cc
void upgrade_scaled_tanh(Upgrader& upgrader, Node node);          // experimental.cc
void upgrade_parametric_softplus(Upgrader& upgrader, Node node);  // experimental.cc
void upgrade_image_scaler(Upgrader& upgrader, Node node);         // experimental.cc
void upgrade_crop(Upgrader& upgrader, Node node);                 // experimental.cc
void upgrade_flex_attention(Upgrader& upgrader, Node node);
void upgrade_grid_sample(Upgrader& upgrader, Node node);
void upgrade_group_normalization(Upgrader& upgrader, Node node);
void upgrade_label_encoder(Upgrader& upgrader, Node node);
void upgrade_lp_pool(Upgrader& upgrader, Node node);
void upgrade_pad(Upgrader& upgrader, Node node);
void upgrade_axes_attribute(Upgrader& upgrader, Node node);  // axes.cc: Squeeze, Unsqueeze, Reduce*
void upgrade_recurrent(Upgrader& upgrader, Node node);
void upgrade_reshape(Upgrader& upgrader, Node node);
void upgrade_resize(Upgrader& upgrader, Node node);
void upgrade_upsample(Upgrader& upgrader, Node node);  // resize.cc
void upgrade_roi_align(Upgrader& upgrader, Node node);
void upgrade_scan(Upgrader& upgrader, Node node);
void upgrade_scatter(Upgrader& upgrader, Node node);
void upgrade_selu(Upgrader& upgrader, Node node);
void upgrade_slice(Upgrader& upgrader, Node node);
void upgrade_softmax(Upgrader& upgrader, Node node);
void upgrade_split(Upgrader& upgrader, Node node);
void upgrade_tile(Upgrader& upgrader, Node node);
void upgrade_top_k(Upgrader& upgrader, Node node);

}  // namespace sardonyx::onnx
