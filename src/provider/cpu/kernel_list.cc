#include "provider/cpu/kernel_list.h"

#include <algorithm>
#include <string>
#include <tuple>

namespace sardonyx::provider::cpu {
namespace {

auto key(const KernelEntry& entry) { return std::tie(entry.domain, entry.op_type); }

KernelTable build_table() {
  KernelTable table;
  add_elementwise_kernels(table);
  add_logic_kernels(table);
  add_reduce_kernels(table);
  add_shape_kernels(table);
  add_movement_kernels(table);
  add_gather_kernels(table);
  add_sequence_kernels(table);
  add_string_kernels(table);
  add_linalg_kernels(table);
  add_conv_kernels(table);
  add_pool_kernels(table);
  add_norm_kernels(table);
  add_recurrent_kernels(table);
  add_attention_kernels(table);
  add_quantize_kernels(table);
  add_image_kernels(table);
  add_random_kernels(table);
  add_signal_kernels(table);
  add_loss_kernels(table);
  add_ml_kernels(table);
  add_microsoft_kernels(table);
  add_internal_kernels(table);
  std::sort(table.begin(), table.end(), [](const KernelEntry& a, const KernelEntry& b) { return key(a) < key(b); });
  return table;
}

}  // namespace

const KernelTable& all_kernels() {
  static const KernelTable table = build_table();
  return table;
}

const KernelEntry* find_kernel(std::string_view domain, std::string_view op_type) {
  const KernelTable& table = all_kernels();
  const auto wanted = std::tie(domain, op_type);
  const auto it = std::lower_bound(table.begin(), table.end(), wanted, [](const KernelEntry& e, const auto& k) { return key(e) < k; });
  return it != table.end() && key(*it) == wanted ? &*it : nullptr;
}

bool type_in(ElementType type, std::initializer_list<ElementType> types) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

Support decline_type(const NodeDesc& node, std::size_t input) {
  return Support::decline(std::string(node.op_type) + " has no kernel for " + std::string(name(node.input_type(input))) +
                          " as input " + std::to_string(input));
}

}  // namespace sardonyx::provider::cpu
