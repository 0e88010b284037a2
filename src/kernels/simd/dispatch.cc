#include "kernels/simd/dispatch.h"

#include <atomic>

#include "base/fail.h"

namespace sardonyx::kernels {
namespace {

std::atomic<int> g_override{-1};

}  // namespace

Isa active_isa() {
  const int chosen = g_override.load(std::memory_order_relaxed);
  return chosen < 0 ? current_isa() : static_cast<Isa>(chosen);
}

ScopedIsa::ScopedIsa(Isa isa) : before_(g_override.load()) {
  if (isa > detected_isa()) fail(ErrorCode::kUnsupported, "this processor does not run '{}'", name(isa));
  g_override.store(static_cast<int>(isa));
}

ScopedIsa::~ScopedIsa() { g_override.store(before_); }

}  // namespace sardonyx::kernels
