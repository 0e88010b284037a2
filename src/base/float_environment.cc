#include "base/float_environment.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#elif !defined(__aarch64__)
#include <cfenv>
#endif

namespace sardonyx {

#if defined(__x86_64__)
ScopedFloatEnvironment::ScopedFloatEnvironment() noexcept : saved_(_mm_getcsr()) { _mm_setcsr(0x1f80); }
ScopedFloatEnvironment::~ScopedFloatEnvironment() { _mm_setcsr(static_cast<unsigned>(saved_)); }
#elif defined(__aarch64__)
ScopedFloatEnvironment::ScopedFloatEnvironment() noexcept {
  asm volatile("mrs %0, fpcr" : "=r"(saved_));
  asm volatile("msr fpcr, %0" ::"r"(std::uint64_t{0}));
}
ScopedFloatEnvironment::~ScopedFloatEnvironment() { asm volatile("msr fpcr, %0" ::"r"(saved_)); }
#else
ScopedFloatEnvironment::ScopedFloatEnvironment() noexcept : saved_(static_cast<std::uint64_t>(std::fegetround())) {
  std::fesetround(FE_TONEAREST);
}
ScopedFloatEnvironment::~ScopedFloatEnvironment() { std::fesetround(static_cast<int>(saved_)); }
#endif

}  // namespace sardonyx
