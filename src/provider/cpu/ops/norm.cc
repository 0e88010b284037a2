#include "provider/cpu/ops/norm.h"

namespace sardonyx::provider::cpu {

void add_norm_kernels(KernelTable& table) {
  add_softmax_kernels(table);
  add_layer_norm_kernels(table);
  add_channel_norm_kernels(table);
  add_other_norm_kernels(table);
  add_dropout_kernels(table);
}

}  // namespace sardonyx::provider::cpu
