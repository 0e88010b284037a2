#include "provider/cpu/kernel_list.h"

namespace sardonyx::provider::cpu {

void add_sequence_kernels(KernelTable&) {}

}  // namespace sardonyx::provider::cpu
