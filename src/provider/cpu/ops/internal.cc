#include "provider/cpu/families.h"

namespace sardonyx::provider::cpu {

void add_internal_kernels(KernelTable& table) { add_fused_mat_mul_kernels(table); }

}  // namespace sardonyx::provider::cpu
