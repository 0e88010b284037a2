#include "base/cpu_info.h"

#include <unistd.h>

#include <cstdlib>
#include <string>

#include "base/fail.h"

namespace sardonyx {
namespace {

constexpr std::string_view kNames[kIsaCount] = {"generic", "avx2", "avx512", "avx512vnni"};

Isa detect() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("f16c")) {
    return Isa::kGeneric;
  }
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512dq") ||
      !__builtin_cpu_supports("avx512vl")) {
    return Isa::kAvx2;
  }
  return __builtin_cpu_supports("avx512vnni") ? Isa::kAvx512Vnni : Isa::kAvx512;
#else
  return Isa::kGeneric;
#endif
}

Isa choose() {
  const Isa detected = detected_isa();
  const char* text = std::getenv("SARDONYX_ISA");
  if (text == nullptr || *text == '\0') return detected;
  const Isa wanted = parse_isa(text);
  if (wanted > detected) {
    fail(ErrorCode::kUnsupported, "SARDONYX_ISA asks for '{}', but this processor supports only '{}'", text, name(detected));
  }
  return wanted;
}

void read_cache(int key, std::size_t& size) {
  const long value = sysconf(key);
  if (value > 0) size = static_cast<std::size_t>(value);
}

}  // namespace

std::string_view name(Isa isa) { return kNames[static_cast<int>(isa)]; }

Isa parse_isa(std::string_view name) {
  for (int i = 0; i < kIsaCount; ++i) {
    if (kNames[i] == name) return static_cast<Isa>(i);
  }
  fail(ErrorCode::kInvalidArgument, "instruction set '{}' is not one of generic, avx2, avx512, avx512vnni (SARDONYX_ISA)", name);
}

Isa detected_isa() {
  static const Isa isa = detect();
  return isa;
}

Isa current_isa() {
  static const Isa isa = choose();
  return isa;
}

const CacheSizes& cache_sizes() {
  static const CacheSizes sizes = [] {
    CacheSizes read;
#ifdef _SC_LEVEL1_DCACHE_SIZE
    read_cache(_SC_LEVEL1_DCACHE_SIZE, read.l1_data);
    read_cache(_SC_LEVEL2_CACHE_SIZE, read.l2);
    read_cache(_SC_LEVEL3_CACHE_SIZE, read.l3);
#endif
    return read;
  }();
  return sizes;
}

}  // namespace sardonyx
