#pragma once

// For *.simd.cc files: the largest tile of products whose accumulators stay in registers.

#include "kernels/simd/vec.h"

namespace sardonyx::kernels::SARDONYX_VARIANT {

// 14 x 32 takes 28 of AVX-512's 32 registers, 6 x 16 takes 12 of AVX2's 16.
#if defined(__AVX512F__)
inline constexpr int kTileRows = 14;
inline constexpr int kTileVectors = 2;
#elif defined(__AVX2__)
inline constexpr int kTileRows = 6;
inline constexpr int kTileVectors = 1;
#else
inline constexpr int kTileRows = 2;
inline constexpr int kTileVectors = 1;
#endif

}  // namespace sardonyx::kernels::SARDONYX_VARIANT
