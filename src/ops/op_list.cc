#include "ops/op_list.h"

#include <algorithm>
#include <tuple>

#include "base/fail.h"

namespace sardonyx::ops {
namespace {

auto key(const OpDef& op) { return std::tie(op.domain, op.name); }

OpTable build_table() {
  OpTable table;
  add_elementwise_ops(table);
  add_logic_ops(table);
  add_reduce_ops(table);
  add_shape_ops(table);
  add_movement_ops(table);
  add_gather_ops(table);
  add_sequence_ops(table);
  add_string_ops(table);
  add_control_flow_ops(table);
  add_linalg_ops(table);
  add_conv_ops(table);
  add_pool_ops(table);
  add_norm_ops(table);
  add_recurrent_ops(table);
  add_attention_ops(table);
  add_quantize_ops(table);
  add_image_ops(table);
  add_random_ops(table);
  add_signal_ops(table);
  add_loss_ops(table);
  add_ml_ops(table);
  add_microsoft_ops(table);
  add_internal_ops(table);
  std::sort(table.begin(), table.end(), [](const OpDef& a, const OpDef& b) { return key(a) < key(b); });
  const auto twice =
      std::adjacent_find(table.begin(), table.end(), [](const OpDef& a, const OpDef& b) { return key(a) == key(b); });
  if (twice != table.end()) fail(ErrorCode::kInternal, "operator {} is defined twice", twice->name);
  return table;
}

}  // namespace

const OpTable& all_ops() {
  static const OpTable table = build_table();
  return table;
}

const OpDef* find_op(std::string_view domain, std::string_view name) {
  const OpTable& table = all_ops();
  const auto wanted = std::tie(domain, name);
  const auto it =
      std::lower_bound(table.begin(), table.end(), wanted, [](const OpDef& op, const auto& k) { return key(op) < k; });
  return it != table.end() && key(*it) == wanted ? &*it : nullptr;
}

}  // namespace sardonyx::ops
