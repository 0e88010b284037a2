#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

#include "base/thread_pool.h"
#include "runtime/plan.h"
#include "runtime/profiler.h"

namespace sardonyx::runtime {

using provider::RunContext;
using provider::Slot;
using provider::Stream;

/// What one run may use and how it is stopped.
struct RunSettings {
  Parallel parallel;
  const std::atomic<bool>* cancelled = nullptr;
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  Profiler* profiler = nullptr;  ///< null: not recorded
};

/// Memory that grows to what is asked and is kept between runs.
struct GrowingBuffer {
  std::shared_ptr<void> memory;
  std::size_t capacity = 0;
  /// At least `bytes`; old contents are lost when it grows.
  void* ensure(const Provider& provider, std::size_t bytes);
};

/// The memory of one run of one plan, reused by later runs. Used by one thread at a time.
class Frame {
 public:
  /// `streams` (by provider, null for the host) are shared with the frames of bodies; empty: this frame makes its own.
  Frame(const Plan& plan, std::vector<std::shared_ptr<Stream>> streams = {});

  /// What a body's frame takes over from its parent: the values of outer symbols.
  void import_symbols(const Frame& parent);

  /// Runs the plan. `inputs` are the graph's inputs in order; what they point to stays valid during the call. Returns
  /// the graph's outputs; each owns its memory, or shares a constant's.
  std::vector<Value> run(std::span<const Slot* const> inputs, const RunSettings& settings);

  const Plan& plan() const { return plan_; }
  /// Bytes of all arenas and workspaces, bodies included.
  std::size_t memory_bytes() const;
  const std::vector<std::shared_ptr<const ShapePlan>>& bound() const { return bound_; }

 private:
  friend class ControlFlow;

  struct StepState {
    std::vector<Slot*> inputs, outputs;
    RunContext context;
    std::shared_ptr<const void> late_params;
    std::vector<std::unique_ptr<Frame>> bodies;
  };

  void set_input(std::size_t index, const Slot& input);
  void match_symbols(const graph::ValueType& type, const Shape& shape, const std::string& what, bool define);
  void bind_segment(std::size_t index, const RunSettings& settings);
  std::shared_ptr<const ShapePlan> make_shape_plan(std::size_t index);
  void bind_kernels(std::size_t index, ShapePlan& shape_plan);
  void evaluate_shape_values(const Segment& segment, ShapePlan& shape_plan) const;
  void check_constraints(const Segment& segment) const;
  [[noreturn]] void refuse_size(graph::ValueId value, const graph::Dim& expression, std::int64_t size) const;
  void apply(std::size_t index, const ShapePlan& shape_plan);
  void allocate_outputs(std::size_t index);

  void run_steps(const RunSettings& settings);
  void run_step(std::size_t index, const RunSettings& settings);
  void run_kernel(const Step& step, StepState& state);
  void run_late(const Step& step, StepState& state, const RunSettings& settings);
  void run_copy(const Step& step);
  void run_view(const Step& step);
  void require_late_shape(const Step& step, std::size_t output, const graph::ValueType& type) const;
  std::vector<graph::ValueType> infer_late(const Step& step) const;
  void finish_late(const Step& step);
  void synchronize();

  Value take_output(ValueId value, std::vector<ValueId>& taken);
  Slot& slot(ValueId id) { return slots_[static_cast<std::size_t>(id)]; }
  const Provider& provider(std::int32_t index) const { return *plan_.providers()[static_cast<std::size_t>(index)]; }

  const Plan& plan_;
  std::vector<Slot> slots_;                              ///< by ValueId
  std::vector<std::int64_t> symbols_;                    ///< by SymbolId; -1 where not known in this run
  std::vector<std::shared_ptr<const ShapePlan>> bound_;  ///< by segment: what slots_ and contexts are set up for
  std::vector<bool> is_bound_now_;                       ///< by segment: bound in this run
  std::vector<std::vector<GrowingBuffer>> arenas_;       ///< by segment, by provider
  std::vector<GrowingBuffer> workspaces_;                ///< by provider
  std::vector<StepState> states_;
  std::vector<std::shared_ptr<Stream>> streams_;
  std::vector<std::int64_t> imported_;
  std::vector<std::unique_ptr<provider::LateAllocator>> late_;  ///< by provider
};

}  // namespace sardonyx::runtime
