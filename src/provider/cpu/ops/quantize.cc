#include "provider/cpu/kernel_list.h"

namespace sardonyx::provider::cpu {

void add_quantize_kernels(KernelTable&) {}

}  // namespace sardonyx::provider::cpu
