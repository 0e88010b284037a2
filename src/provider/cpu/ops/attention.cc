#include "provider/cpu/kernel_list.h"

namespace sardonyx::provider::cpu {

void add_attention_kernels(KernelTable&) {}

}  // namespace sardonyx::provider::cpu
