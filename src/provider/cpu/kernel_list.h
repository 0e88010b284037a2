#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "provider/kernel.h"

namespace sardonyx::provider::cpu {

using graph::NodeDesc;
using graph::Support;

/// How the CPU provider runs one operator.
struct KernelEntry {
  std::string_view domain;
  std::string_view op_type;
  Support (*supports)(const NodeDesc&);
  std::unique_ptr<Kernel> (*create)(const NodeDesc&);
};
using KernelTable = std::vector<KernelEntry>;

/// The entry, or null. Thread-safe.
const KernelEntry* find_kernel(std::string_view domain, std::string_view op_type);
const KernelTable& all_kernels();

/// `create` for a kernel class with a constructor from NodeDesc.
template <typename K>
std::unique_ptr<Kernel> make(const NodeDesc& node) {
  return std::make_unique<K>(node);
}

/// `supports` for operators that run every type their definition lets through.
inline Support always(const NodeDesc&) { return Support::accept(); }

/// Accepts when input `Input`'s element type is one of `Types`, else says which it may be.
bool type_in(ElementType type, std::initializer_list<ElementType> types);
Support decline_type(const NodeDesc& node, std::size_t input);

// One function a family; the definition lies in ops/ in the .cc of that name, or in the first of its files.
void add_elementwise_kernels(KernelTable& table);
void add_logic_kernels(KernelTable& table);
void add_reduce_kernels(KernelTable& table);
void add_shape_kernels(KernelTable& table);
void add_movement_kernels(KernelTable& table);
void add_gather_kernels(KernelTable& table);
void add_sequence_kernels(KernelTable& table);
void add_string_kernels(KernelTable& table);
void add_linalg_kernels(KernelTable& table);
void add_conv_kernels(KernelTable& table);
void add_pool_kernels(KernelTable& table);
void add_norm_kernels(KernelTable& table);
void add_recurrent_kernels(KernelTable& table);
void add_attention_kernels(KernelTable& table);
void add_quantize_kernels(KernelTable& table);
void add_image_kernels(KernelTable& table);
void add_random_kernels(KernelTable& table);
void add_signal_kernels(KernelTable& table);
void add_loss_kernels(KernelTable& table);
void add_ml_kernels(KernelTable& table);
void add_microsoft_kernels(KernelTable& table);
void add_internal_kernels(KernelTable& table);

}  // namespace sardonyx::provider::cpu
