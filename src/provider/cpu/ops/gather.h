#pragma once

#include <cstdint>

#include "base/fail.h"
#include "provider/cpu/dispatch.h"
#include "provider/cpu/kernel_list.h"

namespace sardonyx::provider::cpu {

using IndexTypes = Types<std::int64_t, std::int32_t>;

/// An index from the front, checked. Negative ones count from the end.
inline std::int64_t checked_index(std::int64_t index, std::int64_t size) {
  if (index < -size || index >= size)
    fail(ErrorCode::kInvalidArgument, "index {} is outside a dimension of {}", index, size);
  return index < 0 ? index + size : index;
}

void add_scatter_kernels(KernelTable& table);  ///< scatter.cc: ScatterElements, ScatterND, TensorScatter
void add_select_kernels(KernelTable& table);   ///< select.cc: OneHot, NonZero, Compress
void add_unique_kernels(KernelTable& table);   ///< unique.cc: Unique

}  // namespace sardonyx::provider::cpu
