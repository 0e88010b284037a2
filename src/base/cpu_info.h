#pragma once

#include <cstddef>
#include <string_view>

namespace sardonyx {

/// Instruction-set levels that kernels are compiled for, each including the ones before it.
enum class Isa {
  kGeneric,     ///< the baseline of the architecture
  kAvx2,        ///< AVX2, FMA, F16C
  kAvx512,      ///< AVX-512 F, BW, DQ, VL
  kAvx512Vnni,  ///< AVX-512 VNNI
};

inline constexpr int kIsaCount = 4;

/// "generic", "avx2", "avx512", "avx512vnni".
std::string_view name(Isa isa);

/// The level of that name; throws Error(kInvalidArgument) that lists the names.
Isa parse_isa(std::string_view name);

/// The best level that this processor and operating system run.
Isa detected_isa();

/// The level kernels use: detected_isa(), lowered by the environment variable SARDONYX_ISA. Read once per process.
/// Throws Error(kInvalidArgument) for an unknown name; a level above the detected one is Error(kUnsupported).
Isa current_isa();

/// Sizes in bytes of the caches of one core (l3: of its whole group); usual values where the system does not say.
struct CacheSizes {
  std::size_t l1_data = 32u << 10;
  std::size_t l2 = 512u << 10;
  std::size_t l3 = 8u << 20;
};
const CacheSizes& cache_sizes();

}  // namespace sardonyx
