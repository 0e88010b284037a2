#include "provider/cpu/kernel_list.h"

namespace sardonyx::provider::cpu {

void add_reduce_kernels(KernelTable&) {}

}  // namespace sardonyx::provider::cpu
