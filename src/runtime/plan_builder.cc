#include "runtime/plan_builder.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/aligned_tensor.h"
#include "base/fail.h"
#include "base/mapped_pages.h"
#include "base/thread_pool.h"
#include "ops/op_list.h"
#include "provider/packed_store.h"

namespace sardonyx::runtime {

using graph::kNoValue;
using graph::Node;
using graph::ValueType;

PlanBuilder::PlanBuilder(const Plan::Options& options, const graph::Graph& graph, const std::vector<bool>& known)
    : plan_(std::make_unique<Plan>()), graph_(graph) {
  plan_->options_ = options;
  plan_->graph_ = &graph;
  plan_->values_.resize(graph.value_count());
  plan_->own_constant_of_.assign(graph.value_count(), -1);
  plan_->segments_.resize(1);
  is_read_.assign(graph.value_count(), false);
  symbol_segment_.assign(options.model->symbols.size(), kUnknown);
  is_outer_symbol_.assign(symbol_segment_.size(), false);
  for (std::size_t s = 0; s < known.size(); ++s) {
    if (!known[s]) continue;
    symbol_segment_[s] = 0;
    is_outer_symbol_[s] = true;
  }
}

std::unique_ptr<Plan> PlanBuilder::build() {
  for (std::size_t i = 0; i < graph_.value_count(); ++i) {
    const auto id = static_cast<ValueId>(i);
    ValuePlan& value = value_plan(id);
    value.root = id;
    if (graph_.value(id).is_constant()) value.space = Space::kConstant;
  }
  define_input_symbols();
  for (NodeId id : graph_.order()) {
    const Node& node = graph_.node(id);
    try {
      add_step(node);
    } catch (Error& error) {
      error.add_context(ops::node_place(node));
      throw;
    }
  }
  pack_constants();
  align_constants();
  assign_memory();
  find_synchronizations();
  assign_constraints();
  for (std::size_t s = 0; s < symbol_segment_.size(); ++s) {
    if (is_outer_symbol_[s]) plan_->imported_symbols_.push_back(static_cast<SymbolId>(s));
  }
  for (std::size_t i = 0; i < graph_.value_count(); ++i) value_plan(static_cast<ValueId>(i)).root = root_of(static_cast<ValueId>(i));
  compile_shapes();
  return std::move(plan_);
}

void PlanBuilder::compile_shapes() {
  for (Segment& segment : plan_->segments_) {
    std::map<std::string, std::int32_t> index_of;
    for (ValueId value : segment.values) {
      std::vector<std::int32_t>& indices = segment.dims.emplace_back();
      for (const Dim& dim : graph_.value(value).type.dims) {
        const auto [it, is_new] = index_of.try_emplace(dim.to_string(), static_cast<std::int32_t>(segment.expressions.size()));
        if (is_new) segment.expressions.push_back(dim);
        indices.push_back(it->second);
      }
    }
    // Kernels are bound to the shapes of their inputs too, which may come from earlier segments or late steps.
    for (std::int32_t step : segment.steps) {
      for (ValueId input : plan_->steps_[static_cast<std::size_t>(step)].inputs) {
        if (input == kNoValue) continue;
        for (const Dim& dim : graph_.value(input).type.dims) dim.collect_symbols(segment.symbols);
      }
    }
    for (const Dim& dim : segment.expressions) dim.collect_symbols(segment.symbols);
    for (const ShapeValue& shape_value : segment.shape_values) {
      for (const Dim& element : shape_value.elements) element.collect_symbols(segment.symbols);
    }
    for (const ops::Constraint& constraint : segment.constraints) {
      constraint.a.collect_symbols(segment.symbols);
      constraint.b.collect_symbols(segment.symbols);
    }
    std::sort(segment.symbols.begin(), segment.symbols.end());
    segment.symbols.erase(std::unique(segment.symbols.begin(), segment.symbols.end()), segment.symbols.end());
    plan_->caches_.push_back(std::make_unique<ShapePlanCache>());
  }
}

void PlanBuilder::define_input_symbols() {
  for (ValueId input : graph_.inputs) {
    ValuePlan& value = value_plan(input);
    value.space = Space::kInput;
    for (const Dim& dim : graph_.value(input).type.dims) {
      const auto symbol = dim.as_symbol();
      if (symbol && symbol_segment_[static_cast<std::size_t>(*symbol)] == kUnknown) symbol_segment_[static_cast<std::size_t>(*symbol)] = 0;
    }
    value.segment = segment_of(graph_.value(input).type);
  }
}

std::int32_t PlanBuilder::segment_of(const Dim& dim) const {
  if (dim.is_constant()) return 0;
  std::vector<SymbolId> symbols;
  dim.collect_symbols(symbols);
  std::int32_t last = 0;
  for (SymbolId symbol : symbols) {
    const std::int32_t segment = symbol_segment_[static_cast<std::size_t>(symbol)];
    if (segment == kUnknown) return kUnknown;
    last = std::max(last, segment);
  }
  return last;
}

std::int32_t PlanBuilder::segment_of(const ValueType& type) const {
  if (!type.is_tensor() || !type.has_rank || type.element == ElementType::kString) return kUnknown;
  std::int32_t last = 0;
  for (const Dim& dim : type.dims) {
    const std::int32_t segment = segment_of(dim);
    if (segment == kUnknown) return kUnknown;
    last = std::max(last, segment);
  }
  return last;
}

void PlanBuilder::add_step(const Node& node) {
  const ProviderList& providers = plan_->providers();
  Step step;
  step.node = node.id;
  step.op = ops::find_op(node.domain, node.op_type);
  step.inputs = node.inputs;
  step.outputs = node.outputs;
  const auto owner = std::find_if(providers.begin(), providers.end(), [&](const auto& p) { return p->name() == node.provider; });
  step.provider = owner == providers.end() ? 0 : static_cast<std::int32_t>(owner - providers.begin());
  for (ValueId output : node.outputs) step.output_types.push_back(output == kNoValue ? ValueType{} : graph_.value(output).type);

  const bool copy = node.domain == "ai.sardonyx" && node.op_type == "Copy";
  if (copy && graph_.value(node.inputs[0]).is_constant()) return copy_constant_to_device(node);
  if (copy) step.kind = Step::Kind::kCopy;
  if (step.op && step.op->traits.control_flow) step.kind = Step::Kind::kControlFlow;

  for (ValueId input : node.inputs) {
    if (input == kNoValue) continue;
    const std::int32_t segment = value_plan(input).segment;
    if (segment == kUnknown && !copy) step.late = true;
    step.segment = std::max(step.segment, segment);
  }
  std::int32_t output_segment = step.segment;
  for (const ValueType& type : step.output_types) {
    if (type.is_none()) continue;
    const std::int32_t segment = segment_of(type);
    if (segment == kUnknown) step.late = true;
    output_segment = std::max(output_segment, segment);
  }
  if (step.kind == Step::Kind::kControlFlow || (step.op && step.op->traits.data_dependent)) step.late = true;

  if (try_shape_values(node, step)) return;
  if (step.kind == Step::Kind::kControlFlow) {
    make_bodies(step, node);
  } else if (step.kind == Step::Kind::kKernel) {
    make_kernel(step, node);
  }
  if (!step.late) step.segment = output_segment;
  if (!step.late && try_view(step, node)) step.kind = Step::Kind::kView;
  place_outputs(step, node);
  if (step.late) make_late(step, node);
  if (!step.late) segment(step.segment).steps.push_back(static_cast<std::int32_t>(plan_->steps_.size()));
  plan_->steps_.push_back(std::move(step));
}

void PlanBuilder::make_kernel(Step& step, const Node& node) {
  const Provider& provider = *plan_->providers()[static_cast<std::size_t>(step.provider)];
  const ops::DescribedNode described(plan_->model(), graph_, node);
  step.kernel = provider.create_kernel(described.desc());
  std::vector<bool> packed_input(node.inputs.size(), false);
  for (provider::PackRequest& request : step.kernel->pack_requests()) {
    const Tensor* constant = described.desc().constant(request.input);
    if (!constant) fail(ErrorCode::kInternal, "a packing is asked of input {}, which is no constant", request.input);
    packed_input[request.input] = true;
    pack_jobs_.push_back({plan_->steps_.size(), step.packed.size(), constant, std::move(request), provider.packing_variant()});
    step.packed.emplace_back();
  }
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const bool moved = step.provider == 0 && step.op && i < 32 && (step.op->traits.moved_inputs >> i & 1);
    if (node.inputs[i] != kNoValue && !packed_input[i] && !moved) is_read_[static_cast<std::size_t>(node.inputs[i])] = true;
  }
}

void PlanBuilder::pack_constants() {
  const Parallel parallel{&ThreadPool::global(), ThreadPool::global().threads()};
  parallel.parallel_for(pack_jobs_.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const PackJob& job = pack_jobs_[i];
      const TensorView& constant = job.constant->view();
      plan_->steps_[job.step].packed[job.index] = provider::PackedStore::global().get(constant, job.request, job.variant);
      give_back_mapped_pages(constant.data_ptr, constant.num_bytes());
    }
    provider::PackedStore::release_scratch();
  });
  for (Step& step : plan_->steps_) {
    for (const auto& packed : step.packed) step.packed_pointers.push_back(packed.get());
  }
  pack_jobs_.clear();
}

void PlanBuilder::align_constants() {
  for (const Step& step : plan_->steps_) {
    if (step.kernel) continue;
    for (ValueId input : step.inputs) {
      if (input != kNoValue) is_read_[static_cast<std::size_t>(input)] = true;
    }
  }
  for (ValueId output : graph_.outputs) is_read_[static_cast<std::size_t>(root_of(output))] = true;
  for (std::size_t i = 0; i < is_read_.size(); ++i) {
    const auto id = static_cast<ValueId>(i);
    if (!is_read_[i] || value_plan(id).space != Space::kConstant || value_plan(id).provider != 0 || !graph_.value(id).is_constant()) continue;
    const Tensor& constant = plan_->model().constant(graph_.value(id).constant);
    if (is_aligned(constant.view())) continue;
    keep_own_constant(id, constant.clone(), 0);
    give_back_mapped_pages(constant.view().data_ptr, constant.num_bytes());
  }
}

void PlanBuilder::keep_own_constant(ValueId id, Tensor tensor, std::int32_t provider) {
  ValuePlan& value = value_plan(id);
  value.space = Space::kConstant;
  value.provider = provider;
  plan_->own_constant_of_[static_cast<std::size_t>(id)] = static_cast<std::int32_t>(plan_->own_constants_.size());
  plan_->own_constants_.push_back(std::move(tensor));
}

void PlanBuilder::make_bodies(Step& step, const Node& node) {
  std::vector<bool> known(symbol_segment_.size());
  for (std::size_t s = 0; s < known.size(); ++s) known[s] = symbol_segment_[s] != kUnknown;
  for (const char* name : {"then_branch", "else_branch", "body"}) {
    if (node.attributes.has(name)) step.bodies.push_back(Plan::build(plan_->options_, *node.attributes.graph(name), known));
  }
}

void PlanBuilder::place_outputs(Step& step, const Node& node) {
  const ops::DescribedNode described(plan_->model(), graph_, node);
  const Provider& provider = *plan_->providers()[static_cast<std::size_t>(step.provider)];
  std::vector<int> host_outputs;
  if (step.provider != 0 && step.kind == Step::Kind::kKernel) host_outputs = provider.supports(described.desc()).host_outputs;
  for (std::size_t i = 0; i < step.outputs.size(); ++i) {
    if (step.outputs[i] == kNoValue) continue;
    ValuePlan& value = value_plan(step.outputs[i]);
    const bool on_host = std::find(host_outputs.begin(), host_outputs.end(), static_cast<int>(i)) != host_outputs.end();
    value.provider = on_host ? 0 : step.provider;
    if (step.kind == Step::Kind::kCopy) {
      const std::string& to = node.attributes.get_string("to");
      const auto& list = plan_->providers();
      value.provider = static_cast<std::int32_t>(std::find_if(list.begin(), list.end(), [&](const auto& p) { return p->name() == to; }) - list.begin());
    }
    value.segment = step.late ? kUnknown : segment_of(step.output_types[i]);
    value.space = step.late ? Space::kLate : Space::kArena;
    if (step.kind == Step::Kind::kView) {
      value.root = root_of(step.inputs[0]);
      value.space = value_plan(value.root).space;
      value.provider = value_plan(value.root).provider;
    }
    if (!step.late) segment(value.segment).values.push_back(step.outputs[i]);
  }
}

void PlanBuilder::make_late(Step& step, const Node&) {
  // Symbols that first occur here become known when this step has run: they open a segment of their own.
  std::int32_t opened = kUnknown;
  for (const ValueType& type : step.output_types) {
    if (!type.is_tensor() || !type.has_rank) continue;
    for (const Dim& dim : type.dims) {
      const auto symbol = dim.as_symbol();
      if (!symbol || symbol_segment_[static_cast<std::size_t>(*symbol)] != kUnknown) continue;
      if (opened == kUnknown) {
        opened = static_cast<std::int32_t>(plan_->segments_.size());
        plan_->segments_.emplace_back();
      }
      symbol_segment_[static_cast<std::size_t>(*symbol)] = opened;
    }
  }
  for (std::size_t i = 0; i < step.outputs.size(); ++i) {
    if (step.outputs[i] != kNoValue) value_plan(step.outputs[i]).segment = segment_of(step.output_types[i]);
  }
}

bool PlanBuilder::try_shape_values(const Node& node, const Step& step) {
  if (step.provider != 0 || step.kind != Step::Kind::kKernel) return false;
  std::vector<std::int32_t> segments;
  for (const ValueType& type : step.output_types) {
    const bool known = type.is_tensor() && type.has_rank && type.rank() <= 1 && type.values &&
                       (type.element == ElementType::kInt64 || type.element == ElementType::kInt32);
    if (!known || (type.rank() == 1 && !type.dims[0].is(static_cast<std::int64_t>(type.values->size())))) return false;
    std::int32_t last = 0;
    for (const Dim& element : *type.values) {
      const std::int32_t at = segment_of(element);
      if (at == kUnknown) return false;
      last = std::max(last, at);
    }
    segments.push_back(last);
  }
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    ValuePlan& value = value_plan(node.outputs[i]);
    value.space = Space::kShape;
    value.segment = segments[i];
    segment(segments[i]).values.push_back(node.outputs[i]);
    segment(segments[i]).shape_values.push_back({node.outputs[i], *step.output_types[i].values});
  }
  return !node.outputs.empty();
}

bool PlanBuilder::try_view(Step& step, const Node& node) {
  if (step.kind != Step::Kind::kKernel || !step.op || !step.op->traits.view || node.outputs.size() != 1) return false;
  const ValuePlan& input = value_plan(node.inputs[0]);
  return input.provider == step.provider && graph_.value(node.inputs[0]).type.is_tensor();
}

void PlanBuilder::copy_constant_to_device(const Node& node) {
  const ProviderList& providers = plan_->providers();
  const std::string& to = node.attributes.get_string("to");
  const auto target = std::find_if(providers.begin(), providers.end(), [&](const auto& p) { return p->name() == to; });
  const Tensor& constant = plan_->model().constant(graph_.value(node.inputs[0]).constant);
  std::shared_ptr<void> memory = (*target)->allocate(constant.num_bytes());
  void* data = memory.get();
  Tensor on_device(constant.type(), constant.shape(), data, std::move(memory), (*target)->device());
  const auto stream = (*target)->create_stream();
  stream->copy(constant.view(), on_device.view());
  stream->synchronize();
  keep_own_constant(node.outputs[0], std::move(on_device), static_cast<std::int32_t>(target - providers.begin()));
}

void PlanBuilder::assign_constraints() {
  if (!plan_->options_.constraints) return;
  for (const ops::Constraint& constraint : *plan_->options_.constraints) {
    if (constraint.graph != plan_->graph_) continue;
    const std::int32_t a = segment_of(constraint.a), b = segment_of(constraint.b);
    if (a != kUnknown && b != kUnknown) segment(std::max(a, b)).constraints.push_back(constraint);
  }
}

}  // namespace sardonyx::runtime
