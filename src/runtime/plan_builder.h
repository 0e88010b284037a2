#pragma once

#include <memory>
#include <vector>

#include "runtime/plan.h"

namespace sardonyx::runtime {

/// Makes a Plan: cuts the graph into segments, makes kernels, decides which values share memory.
class PlanBuilder {
 public:
  PlanBuilder(const Plan::Options& options, const graph::Graph& graph, const std::vector<bool>& known);
  std::unique_ptr<Plan> build();

 private:
  static constexpr std::int32_t kUnknown = -1;

  // Symbols: symbol_segment_[s] is the segment from which on its value is known, kUnknown before that.
  std::int32_t segment_of(const Dim& dim) const;
  /// kUnknown when the rank or a dimension is not known yet, or the value is no plain tensor.
  std::int32_t segment_of(const graph::ValueType& type) const;
  void define_input_symbols();
  void assign_constraints();

  void add_step(const graph::Node& node);
  void make_kernel(Step& step, const graph::Node& node);
  /// Packs all constants that kernels asked for, in parallel, and hands the file's pages back.
  void pack_constants();
  /// Constants that kernels, or callers, read as they are must be aligned: copies those that the file did not align.
  void align_constants();
  void keep_own_constant(ValueId value, Tensor tensor, std::int32_t provider);
  void make_bodies(Step& step, const graph::Node& node);
  void place_outputs(Step& step, const graph::Node& node);
  /// Marks a step as late and starts the segment of the symbols it defines.
  void make_late(Step& step, const graph::Node& node);
  /// When inference knows every output's elements: they become shape values, and no step is needed.
  bool try_shape_values(const graph::Node& node, const Step& step);
  bool try_view(Step& step, const graph::Node& node);
  void copy_constant_to_device(const graph::Node& node);

  // Memory (memory_planner.cc)
  void assign_memory();
  void find_last_uses();
  void mark_outputs();
  bool try_in_place(const Step& step, std::size_t position);
  void assign_slot(ValueId value, std::size_t position);
  void find_synchronizations();
  /// The value whose memory `value` shares: roots are chained while planning and flat in the finished plan.
  ValueId root_of(ValueId value) const {
    while (plan_->values_[static_cast<std::size_t>(value)].root != value) value = plan_->values_[static_cast<std::size_t>(value)].root;
    return value;
  }
  void compile_shapes();
  ValuePlan& value_plan(ValueId value) { return plan_->values_[static_cast<std::size_t>(value)]; }
  Segment& segment(std::int32_t index) { return plan_->segments_[static_cast<std::size_t>(index)]; }

  struct PackJob {
    std::size_t step, index;
    const Tensor* constant;
    provider::PackRequest request;
    std::string_view variant;
  };

  std::unique_ptr<Plan> plan_;
  std::vector<PackJob> pack_jobs_;
  std::vector<bool> is_read_;    ///< by ValueId: constants that are read as they are
  const graph::Graph& graph_;
  std::vector<std::int32_t> symbol_segment_;
  std::vector<bool> is_outer_symbol_;
  std::vector<std::int32_t> last_use_;  ///< by root ValueId: position of the last step that reads its memory
  struct FreeSlot { std::int32_t segment, slot; };
  std::vector<FreeSlot> free_slots_;
};

}  // namespace sardonyx::runtime
