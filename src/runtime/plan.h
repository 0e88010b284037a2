#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "graph/model.h"
#include "ops/infer.h"
#include "ops/op_def.h"
#include "provider/provider.h"
#include "runtime/shape_plan.h"

namespace sardonyx::runtime {

using graph::Dim;
using graph::NodeId;
using graph::SymbolId;
using graph::ValueId;
using provider::Kernel;
using provider::Provider;

/// The providers of a session. Index 0 is always the CPU: what runs on the host and the runtime's own work belong to it.
using ProviderList = std::vector<std::shared_ptr<const Provider>>;

/// Where a value's bytes are while a run lasts.
enum class Space : std::uint8_t {
  kUnused,
  kConstant,  ///< the model's
  kInput,     ///< the caller's
  kOutput,    ///< a tensor made for the caller in each run
  kArena,     ///< the frame's memory at an offset that the ShapePlan knows
  kShape,     ///< a small integer tensor whose elements are expressions over symbols: in the ShapePlan
  kLate,      ///< made while running: shapes that depend on values, strings, sequences, maps
};

/// What the plan decided about one value.
struct ValuePlan {
  Space space = Space::kUnused;
  ValueId root = graph::kNoValue;  ///< the value whose memory this one shares; itself when it has its own
  std::int32_t provider = 0;       ///< whose memory
  std::int32_t slot = -1;          ///< of a root in the arena: which buffer of its segment
  std::int32_t segment = 0;        ///< the segment in which its shape is known; -1 when it is only known while running
};

class Plan;

/// One node, ready to run.
struct Step {
  enum class Kind : std::uint8_t { kKernel, kView, kCopy, kControlFlow };

  Kind kind = Kind::kKernel;
  NodeId node = graph::kNoNode;
  std::int32_t provider = 0;
  std::int32_t segment = 0;  ///< must be bound before this step runs; of a late step, those of its inputs
  bool late = false;         ///< output shapes are inferred, or outputs allocated, while running
  const ops::OpDef* op = nullptr;
  std::unique_ptr<Kernel> kernel;
  std::vector<ValueId> inputs, outputs;
  std::vector<graph::ValueType> output_types;
  std::vector<std::shared_ptr<const std::byte>> packed;  ///< what packed_pointers points to
  std::vector<const std::byte*> packed_pointers;
  std::vector<ValueId> release_after;      ///< late values nobody reads after this step
  std::vector<std::int32_t> sync_before;   ///< providers whose stream must be empty before this step
  std::vector<std::unique_ptr<Plan>> bodies;
};

/// A buffer of a segment's arena: the values that take turns in it.
struct ArenaSlot {
  std::int32_t provider = 0;
  std::vector<ValueId> values;
};

/// A small integer tensor that inference knows in full: evaluated when shapes are bound, so that no node runs for it.
struct ShapeValue {
  ValueId value = graph::kNoValue;
  std::vector<Dim> elements;
};

/// Nodes whose shapes become known at the same moment: segment 0 from the inputs' shapes, the others from late steps.
struct Segment {
  std::vector<std::int32_t> steps;      ///< static steps, in order
  std::vector<ValueId> values;          ///< values whose shapes this segment computes
  std::vector<Dim> expressions;         ///< every different dimension of those values, once
  std::vector<std::vector<std::int32_t>> dims;  ///< parallel to values: indices into expressions
  std::vector<SymbolId> symbols;        ///< what they depend on: the ShapePlan's key
  std::vector<ArenaSlot> slots;
  std::vector<ShapeValue> shape_values;
  std::vector<ops::Constraint> constraints;
};

/// A graph made ready to run for any input shapes. Immutable, except for its cache of shape plans, which is thread-safe.
class Plan {
 public:
  struct Options {
    const graph::Model* model = nullptr;  ///< outlives the plan
    const ProviderList* providers = nullptr;
    const std::vector<ops::Constraint>* constraints = nullptr;
  };

  /// `graph` outlives the plan and is placed and inferred. `known` lists symbols whose values a body's caller hands over.
  static std::unique_ptr<Plan> build(const Options& options, const graph::Graph& graph, const std::vector<bool>& known = {});

  const graph::Graph& graph() const { return *graph_; }
  const graph::Model& model() const { return *options_.model; }
  const ProviderList& providers() const { return *options_.providers; }
  const std::vector<Step>& steps() const { return steps_; }
  const std::vector<Segment>& segments() const { return segments_; }
  const ValuePlan& value(ValueId id) const { return values_[static_cast<std::size_t>(id)]; }
  /// The constant behind a value of space kConstant, in its provider's memory.
  const Tensor& constant(ValueId id) const;
  /// Outer symbols that a body's shapes use.
  const std::vector<SymbolId>& imported_symbols() const { return imported_symbols_; }

  ShapePlanCache& shape_plans(std::size_t segment) const { return *caches_[segment]; }

 private:
  friend class PlanBuilder;
  Options options_;
  const graph::Graph* graph_ = nullptr;
  std::vector<Step> steps_;
  std::vector<ValuePlan> values_;
  std::vector<Segment> segments_;
  std::vector<Tensor> own_constants_;      ///< copies made once, with the plan: for devices, and of what the file did not align
  std::vector<std::int32_t> own_constant_of_;  ///< by ValueId, -1 for none
  std::vector<SymbolId> imported_symbols_;
  std::vector<std::unique_ptr<ShapePlanCache>> caches_;
};

}  // namespace sardonyx::runtime
