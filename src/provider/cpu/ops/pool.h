#pragma once

#include "provider/cpu/kernel_list.h"

namespace sardonyx::provider::cpu {

// The parts of the pooling family; each adds its rows to the table.
void add_window_pool_kernels(KernelTable& table);  // window_pool.cc: MaxPool, AveragePool, LpPool
void add_global_pool_kernels(KernelTable& table);  // global_pool.cc: GlobalAveragePool, GlobalMaxPool, GlobalLpPool
void add_unpool_kernels(KernelTable& table);       // unpool.cc: MaxUnpool
void add_region_pool_kernels(KernelTable& table);  // region_pool.cc: RoiAlign, MaxRoiPool

}  // namespace sardonyx::provider::cpu
