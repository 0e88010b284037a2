#pragma once

#include "provider/kernel.h"

namespace sardonyx::provider {

/// An ordered queue of work on a device. Work starts some time after it is enqueued and ends in order; nothing it reads may
/// change, and nothing it writes may be read by the host, before synchronize(). Used by one run at a time.
class Stream {
 public:
  virtual ~Stream() = default;
  /// Enqueues one kernel call. What `context` points to (slots, workspace, parameters) stays valid until synchronize().
  virtual void launch(const Kernel& kernel, const RunContext& context) = 0;
  /// Enqueues a copy of whole tensors between host and device, or within the device. Same type and shape on both sides.
  virtual void copy(const TensorView& from, const TensorView& to) = 0;
  /// Waits for everything enqueued, and throws the first Error that any of it met.
  virtual void synchronize() = 0;
};

}  // namespace sardonyx::provider
