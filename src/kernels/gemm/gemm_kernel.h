#pragma once

#include "kernels/gemm/gemm_table.h"

namespace sardonyx::kernels {

/// The fp32 micro-kernels of the running instruction set, for kernels that do their own blocking (attention,
/// convolution).
const GemmKernel& active_gemm_kernel();

}  // namespace sardonyx::kernels
