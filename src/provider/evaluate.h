#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "graph/attribute.h"
#include "provider/provider.h"

namespace sardonyx::provider {

/// Runs one node on given values: infers the output shapes from them, makes a kernel, and runs it in the calling thread.
/// For constant folding and for tests of single operators; providers whose memory is the host's only.
/// An input that is_none() is left out. Throws what inference or the kernel throw, and kUnsupported with the provider's reason.
std::vector<Value> evaluate_node(const Provider& provider, std::string_view domain, std::string_view op_type,
                                 const graph::Attributes& attributes, std::span<const Value> inputs, std::size_t num_outputs);

/// What is known of a value that exists: its exact type, and its elements where it is a small integer tensor.
graph::ValueType type_of(const Value& value);

/// A LateAllocator over ordinary tensors: each output owns its memory.
class TensorAllocator final : public LateAllocator {
 public:
  void allocate(Slot& slot, ElementType type, const Shape& shape) override;
};

}  // namespace sardonyx::provider
