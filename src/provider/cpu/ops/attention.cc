#include "provider/cpu/ops/attention.h"

namespace sardonyx::provider::cpu {

void add_attention_kernels(KernelTable& table) {
  add_dot_attention_kernels(table);
  add_rotary_embedding_kernels(table);
  add_linear_attention_kernels(table);
}

}  // namespace sardonyx::provider::cpu
