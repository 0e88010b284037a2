#pragma once

#include <cstddef>
#include <memory>

#include "provider/kernel.h"

namespace sardonyx::provider {

/// Packed constants of the whole process: tied layers, both branches of an If and every session share one copy of the same
/// content in the same packing. Thread-safe. An entry lives as long as somebody holds it.
class PackedStore {
 public:
  static PackedStore& global();

  /// The packed form of `constant`, made now if nobody holds it yet. `isa` names what the packing depends on.
  std::shared_ptr<const std::byte> get(const TensorView& constant, const PackRequest& request, std::string_view isa);

  /// Frees what the calling thread keeps for aligning constants. Call it when a model has been loaded.
  static void release_scratch();

  /// Bytes held at the moment.
  std::size_t bytes() const;

 private:
  struct State;
  PackedStore();
  std::shared_ptr<State> state_;
};

}  // namespace sardonyx::provider
