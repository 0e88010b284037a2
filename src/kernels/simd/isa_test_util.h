#pragma once

#include <vector>

#include "base/cpu_info.h"
#include "kernels/simd/dispatch.h"

namespace sardonyx::kernels {

/// Every instruction set that this machine can run, the lowest first: what each kernel's tests run on.
inline std::vector<Isa> runnable_isas() {
  std::vector<Isa> isas;
  for (int i = 0; i <= static_cast<int>(detected_isa()); ++i) isas.push_back(static_cast<Isa>(i));
  return isas;
}

}  // namespace sardonyx::kernels
