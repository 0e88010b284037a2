#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "graph/node_desc.h"
#include "sardonyx/tensor.h"
#include "sardonyx/value.h"

namespace sardonyx::provider {

/// One runtime value of a run: a tensor that is seen through `view`, or an object (sequence, map, nothing).
struct Slot {
  TensorView view;       ///< valid when `is_tensor`
  Value object;          ///< owns late tensors, strings, and holds sequences and maps
  bool is_tensor = false;
};

/// Memory for outputs whose size is only known while running. Implemented by the runtime.
class LateAllocator {
 public:
  virtual ~LateAllocator() = default;
  /// Makes `slot` a tensor of this type and shape with fresh memory. Throws kResourceExhausted.
  virtual void allocate(Slot& slot, ElementType type, const Shape& shape) = 0;
};

/// A constant that a kernel wants in another form, made once per process and shared (PackedStore).
struct PackRequest {
  std::size_t input = 0;  ///< which (constant) input
  std::string packing;    ///< names layout and version, such as "gemm_f32_n32/1"; the instruction set is added by the store
  std::size_t bytes = 0;
  std::function<void(const TensorView& constant, std::byte* packed)> pack;  ///< `packed` is 64-byte aligned
};

/// What a kernel prepares once for given shapes.
struct Binding {
  std::size_t workspace_bytes = 0;
  std::shared_ptr<const void> params;
};

/// The shapes a kernel is bound to. Values are not known, constants are in the NodeDesc the kernel was made from.
struct BindContext {
  std::span<const TensorView* const> inputs;   ///< types and shapes only; null: left out
  std::span<const TensorView* const> outputs;  ///< null: left out, or shape not known before running
};

/// One call of a kernel: inputs, outputs and means. Lives for one run of one node; not shared between threads.
class RunContext {
 public:
  std::span<Slot* const> inputs;    ///< null: left out
  std::span<Slot* const> outputs;   ///< null: not wanted
  std::span<const std::byte* const> packed_constants;  ///< one per PackRequest
  std::span<std::byte> workspace_memory;
  const void* bound_params = nullptr;
  LateAllocator* late = nullptr;
  Parallel parallel;
  const std::atomic<bool>* cancelled = nullptr;
  std::span<const graph::ValueType> output_types;  ///< as inferred; element types are always known

  std::size_t num_inputs() const { return inputs.size(); }
  std::size_t num_outputs() const { return outputs.size(); }
  bool has_input(std::size_t i) const { return i < inputs.size() && inputs[i] && (inputs[i]->is_tensor || !inputs[i]->object.is_none()); }
  bool wants_output(std::size_t i) const { return i < outputs.size() && outputs[i]; }

  /// A tensor input. Assertion when left out: ask has_input first where the operator allows it.
  const TensorView& input(std::size_t i) const { return inputs[i]->view; }
  /// Any input as a Value; a tensor shares memory that is valid during this call only, unless it owns it.
  Value input_value(std::size_t i) const;

  /// A tensor output, allocated with its inferred shape.
  TensorView& output(std::size_t i) const { return outputs[i]->view; }
  /// Gives an output of a data-dependent shape its memory and returns it. Must not be called when wants_output(i) is false.
  TensorView& allocate_output(std::size_t i, const Shape& shape) const;
  TensorView& allocate_output(std::size_t i, ElementType type, const Shape& shape) const;
  /// Sets an output that is a sequence, a map, nothing, or a tensor with memory of its own.
  void set_output(std::size_t i, Value value) const;

  std::byte* workspace() const { return workspace_memory.data(); }
  const std::byte* packed(std::size_t request) const { return packed_constants[request]; }
  template <typename T>
  const T& params() const { return *static_cast<const T*>(bound_params); }
  /// Throws kCancelled when the caller asked the run to stop. Poll it in long loops.
  void check_cancelled() const;
};

/// One node made ready to run. Immutable after construction, so that any number of threads may run it at once.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual std::vector<PackRequest> pack_requests() const { return {}; }
  /// Called once per set of shapes; cheap. The shapes have passed inference.
  virtual Binding bind(const BindContext&) const { return {}; }
  /// Fills the outputs. Outputs may share memory with an input named in_place by the operator's traits. Throws Error.
  virtual void run(RunContext& context) const = 0;
};

}  // namespace sardonyx::provider
