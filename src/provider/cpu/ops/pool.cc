#include "provider/cpu/ops/pool.h"

namespace sardonyx::provider::cpu {

void add_pool_kernels(KernelTable& table) {
  add_window_pool_kernels(table);
  add_global_pool_kernels(table);
  add_unpool_kernels(table);
  add_region_pool_kernels(table);
}

}  // namespace sardonyx::provider::cpu
