#pragma once

#include "base/cpu_info.h"

namespace sardonyx::kernels {

/// The instruction set that kernels run on: current_isa() unless a test chose another.
Isa active_isa();

/// Makes kernels use `isa` (at most detected_isa()) until the object goes. For tests: the whole process changes, and packed
/// data must be used under the instruction set it was packed for.
class ScopedIsa {
 public:
  explicit ScopedIsa(Isa isa);
  ~ScopedIsa();
  ScopedIsa(const ScopedIsa&) = delete;
  ScopedIsa& operator=(const ScopedIsa&) = delete;

 private:
  int before_;
};

/// One table of functions per instruction set.
template <typename Table>
struct Variants {
  const Table* tables[kIsaCount];
  const Table& get() const { return *tables[static_cast<int>(active_isa())]; }
  const Table& get(Isa isa) const { return *tables[static_cast<int>(isa)]; }
};

}  // namespace sardonyx::kernels

// Declares the tables `kName` of type Type, which a *.simd.cc file defines once per instruction set, and collects them in
// `kNameVariants`. Use at namespace scope of sardonyx::kernels, in a .cc file.
#if defined(__x86_64__)
#define SARDONYX_DECLARE_VARIANTS(Type, kName, vnni_namespace)                        \
  namespace generic {                                                                 \
  extern const Type kName;                                                            \
  }                                                                                   \
  namespace avx2 {                                                                    \
  extern const Type kName;                                                            \
  }                                                                                   \
  namespace avx512 {                                                                  \
  extern const Type kName;                                                            \
  }                                                                                   \
  namespace vnni_namespace {                                                          \
  extern const Type kName;                                                            \
  }                                                                                   \
  const Variants<Type> kName##Variants = {{&generic::kName, &avx2::kName, &avx512::kName, &vnni_namespace::kName}}
#else
#define SARDONYX_DECLARE_VARIANTS(Type, kName, vnni_namespace)                        \
  namespace generic {                                                                 \
  extern const Type kName;                                                            \
  }                                                                                   \
  const Variants<Type> kName##Variants = {{&generic::kName, &generic::kName, &generic::kName, &generic::kName}}
#endif

// For files without an avx512vnni form of their own, and for those that have one (listed in layer.cmake).
#define SARDONYX_VARIANTS(Type, kName) SARDONYX_DECLARE_VARIANTS(Type, kName, avx512)
#define SARDONYX_VARIANTS_WITH_VNNI(Type, kName) SARDONYX_DECLARE_VARIANTS(Type, kName, avx512vnni)
