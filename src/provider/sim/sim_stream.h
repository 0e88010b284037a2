#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "provider/stream.h"

namespace sardonyx::provider::sim {

/// Work is only written down when enqueued, and done in synchronize(): a host that reads a result too early, or changes an
/// input too early, gets wrong values every time instead of once in a while. The host side of a copy is poisoned until then.
class SimStream final : public Stream {
 public:
  SimStream();
  ~SimStream() override;
  void launch(const Kernel& kernel, const RunContext& context) override;
  void copy(const TensorView& from, const TensorView& to) override;
  void synchronize() override;

 private:
  struct Call;
  struct Work {
    std::unique_ptr<Call> call;  ///< null: a copy
    TensorView from, to;
  };

  std::deque<Work> queue_;
};

}  // namespace sardonyx::provider::sim
