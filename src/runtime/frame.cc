#include "runtime/frame.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <thread>
#include <utility>

#include "base/fail.h"
#include "ops/op_list.h"
#include "provider/evaluate.h"
#include "runtime/control_flow.h"

namespace sardonyx::runtime {

using graph::kNoValue;
using graph::ValueType;

namespace {

/// Late memory of a device: every tensor owns its allocation.
class DeviceAllocator final : public provider::LateAllocator {
 public:
  explicit DeviceAllocator(const Provider& provider) : provider_(provider) {}
  void allocate(Slot& slot, ElementType type, const Shape& shape) override {
    std::shared_ptr<void> memory = provider_.allocate(byte_size(type, shape.num_elements()));
    void* data = memory.get();
    Tensor tensor(type, shape, data, std::move(memory), provider_.device());
    slot.view = tensor.view();
    slot.object = std::move(tensor);
    slot.is_tensor = true;
  }

 private:
  const Provider& provider_;
};

}  // namespace

void* GrowingBuffer::ensure(const Provider& provider, std::size_t bytes) {
  if (bytes > capacity) {
    memory.reset();
    capacity = 0;
    memory = provider.allocate(bytes);
    capacity = bytes;
  }
  return memory.get();
}

Frame::Frame(const Plan& plan, std::vector<std::shared_ptr<Stream>> streams)
    : plan_(plan),
      slots_(plan.graph().value_count()),
      symbols_(plan.model().symbols.size(), -1),
      bound_(plan.segments().size()),
      is_bound_now_(plan.segments().size(), false),
      arenas_(plan.segments().size(), std::vector<GrowingBuffer>(plan.providers().size())),
      workspaces_(plan.providers().size()),
      states_(plan.steps().size()),
      streams_(std::move(streams)),
      imported_(plan.imported_symbols().size(), -1) {
  if (streams_.empty()) {
    for (const auto& one : plan.providers()) streams_.push_back(one->create_stream());
  }
  for (const auto& one : plan.providers()) {
    if (one->device().is_host()) {
      late_.push_back(std::make_unique<provider::TensorAllocator>());
    } else {
      late_.push_back(std::make_unique<DeviceAllocator>(*one));
    }
  }
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const auto id = static_cast<ValueId>(i);
    if (plan.value(id).space != Space::kConstant || plan.value(id).root != id) continue;
    const Tensor& constant = plan.constant(id);
    slots_[i] = {constant.view(), constant, true};
  }
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const Step& step = plan.steps()[i];
    StepState& state = states_[i];
    for (ValueId id : step.inputs) state.inputs.push_back(id == kNoValue ? nullptr : &slot(id));
    for (ValueId id : step.outputs) state.outputs.push_back(id == kNoValue ? nullptr : &slot(id));
    state.context.inputs = state.inputs;
    state.context.outputs = state.outputs;
    state.context.packed_constants = step.packed_pointers;
    state.context.late = late_[static_cast<std::size_t>(step.provider)].get();
    state.context.output_types = step.output_types;
    for (const auto& body : step.bodies) state.bodies.push_back(std::make_unique<Frame>(*body, streams_));
  }
}

void Frame::import_symbols(const Frame& parent) {
  const auto& imports = plan_.imported_symbols();
  for (std::size_t i = 0; i < imports.size(); ++i) imported_[i] = parent.symbols_[static_cast<std::size_t>(imports[i])];
}

std::size_t Frame::memory_bytes() const {
  std::size_t total = 0;
  for (const auto& by_provider : arenas_) {
    for (const GrowingBuffer& buffer : by_provider) total += buffer.capacity;
  }
  for (const GrowingBuffer& buffer : workspaces_) total += buffer.capacity;
  for (const StepState& state : states_) {
    for (const auto& body : state.bodies) total += body->memory_bytes();
  }
  return total;
}

std::vector<Value> Frame::run(std::span<const Slot* const> inputs, const RunSettings& settings) {
  std::fill(symbols_.begin(), symbols_.end(), -1);
  std::fill(is_bound_now_.begin(), is_bound_now_.end(), false);
  for (std::size_t i = 0; i < imported_.size(); ++i) symbols_[static_cast<std::size_t>(plan_.imported_symbols()[i])] = imported_[i];
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i]) set_input(i, *inputs[i]);
  }
  try {
    bind_segment(0, settings);
    run_steps(settings);
  } catch (...) {
    for (const auto& stream : streams_) {
      if (!stream) continue;
      try {
        stream->synchronize();  // nothing may still write into this frame
      } catch (const Error&) {
        // The first error is the one being reported.
      }
    }
    throw;
  }
  synchronize();
  for (ValueId output : plan_.graph().outputs) {  // an output that no step makes, such as a shape
    const std::int32_t segment = plan_.value(output).segment;
    if (segment > 0 && !is_bound_now_[static_cast<std::size_t>(segment)]) bind_segment(static_cast<std::size_t>(segment), settings);
  }
  std::vector<Value> outputs;
  std::vector<ValueId> taken;
  outputs.reserve(plan_.graph().outputs.size());
  for (ValueId output : plan_.graph().outputs) outputs.push_back(take_output(output, taken));
  return outputs;
}

void Frame::set_input(std::size_t index, const Slot& input) {
  const graph::Graph& graph = plan_.graph();
  const ValueId id = graph.inputs[index];
  Slot& mine = slot(id);
  mine.is_tensor = input.is_tensor;
  mine.object = input.object;
  if (!input.is_tensor) return;
  mine.view = input.view;
  match_symbols(graph.value(id).type, input.view.shape, graph.input_names[index], true);
}

void Frame::match_symbols(const ValueType& type, const Shape& shape, const std::string& what, bool define) {
  if (!type.is_tensor() || !type.has_rank) return;
  if (type.rank() != shape.rank()) {
    fail(ErrorCode::kInvalidArgument, "'{}' has shape {}, but the model expects {}", what, shape.to_string(), type.to_string());
  }
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    const auto symbol = type.dims[i].as_symbol();
    if (symbol && define && symbols_[static_cast<std::size_t>(*symbol)] < 0) {
      symbols_[static_cast<std::size_t>(*symbol)] = shape[i];
      continue;
    }
    std::int64_t expected = 0;
    if (type.dims[i].is_constant()) {
      expected = type.dims[i].constant();
    } else if (symbol) {
      expected = symbols_[static_cast<std::size_t>(*symbol)];
    } else {
      continue;  // an expression: its symbols may not all be known
    }
    if (expected != shape[i]) {
      fail(ErrorCode::kInvalidArgument, "'{}' has shape {}, but the model expects {}, where dimension {} is {}", what,
           shape.to_string(), type.to_string(), i, expected);
    }
  }
}

void Frame::bind_segment(std::size_t index, const RunSettings&) {
  const Segment& segment = plan_.segments()[index];
  const ShapePlan* current = bound_[index].get();
  const auto holds = [&](const ShapePlan& plan) {
    for (std::size_t i = 0; i < segment.symbols.size(); ++i) {
      if (plan.key[i] != symbols_[static_cast<std::size_t>(segment.symbols[i])]) return false;
    }
    return true;
  };
  if (!current || !holds(*current)) {
    std::vector<std::int64_t> key;
    for (SymbolId symbol : segment.symbols) key.push_back(symbols_[static_cast<std::size_t>(symbol)]);
    bound_[index].reset();  // were binding to fail half-way, the slots would hold neither the old shapes nor the new
    std::shared_ptr<const ShapePlan> shape_plan = plan_.shape_plans(index).find(key);
    if (!shape_plan) {
      shape_plan = make_shape_plan(index);
      plan_.shape_plans(index).insert(shape_plan);
    } else {
      apply(index, *shape_plan);
    }
    bound_[index] = std::move(shape_plan);
  }
  is_bound_now_[index] = true;
  allocate_outputs(index);
}

std::shared_ptr<const ShapePlan> Frame::make_shape_plan(std::size_t index) {
  constexpr std::size_t kAlignment = 64;
  const Segment& segment = plan_.segments()[index];
  check_constraints(segment);
  auto shape_plan = std::make_shared<ShapePlan>();
  for (SymbolId symbol : segment.symbols) shape_plan->key.push_back(symbols_[static_cast<std::size_t>(symbol)]);
  std::vector<std::int64_t> sizes;
  sizes.reserve(segment.expressions.size());
  for (const Dim& expression : segment.expressions) {
    sizes.push_back(expression.evaluate(symbols_));
    if (sizes.back() < 0) fail(ErrorCode::kInvalidArgument, "the dimension {} would be {} for these inputs", expression.to_string(), sizes.back());
  }
  std::vector<std::size_t> value_bytes(segment.values.size());
  shape_plan->shapes.resize(segment.values.size());
  for (std::size_t i = 0; i < segment.values.size(); ++i) {
    for (std::int32_t expression : segment.dims[i]) shape_plan->shapes[i].push_back(sizes[static_cast<std::size_t>(expression)]);
    value_bytes[i] = byte_size(plan_.graph().value(segment.values[i]).type.element, shape_plan->shapes[i].num_elements());
  }
  std::vector<std::size_t> slot_bytes(segment.slots.size(), 0);
  for (std::size_t i = 0; i < segment.values.size(); ++i) {
    const ValuePlan& value = plan_.value(segment.values[i]);
    if (value.space != Space::kArena || value.slot < 0) continue;
    std::size_t& bytes = slot_bytes[static_cast<std::size_t>(value.slot)];
    bytes = std::max(bytes, value_bytes[i]);
  }
  shape_plan->arena_bytes.assign(plan_.providers().size(), 0);
  for (std::size_t i = 0; i < segment.slots.size(); ++i) {
    std::size_t& used = shape_plan->arena_bytes[static_cast<std::size_t>(segment.slots[i].provider)];
    shape_plan->slot_offsets.push_back(used);
    if (__builtin_add_overflow(used, (slot_bytes[i] + kAlignment - 1) / kAlignment * kAlignment, &used)) {
      fail(ErrorCode::kResourceExhausted, "intermediate results would need more than the address space");
    }
  }
  evaluate_shape_values(segment, *shape_plan);
  shape_plan->workspace_bytes.assign(plan_.providers().size(), 0);
  apply(index, *shape_plan);
  bind_kernels(index, *shape_plan);
  apply(index, *shape_plan);
  return shape_plan;
}

void Frame::bind_kernels(std::size_t index, ShapePlan& shape_plan) {
  const Segment& segment = plan_.segments()[index];
  shape_plan.bindings.reserve(segment.steps.size());
  std::vector<const TensorView*> inputs, outputs;
  for (std::int32_t at : segment.steps) {
    const Step& step = plan_.steps()[static_cast<std::size_t>(at)];
    provider::Binding& binding = shape_plan.bindings.emplace_back();
    if (!step.kernel) continue;
    const StepState& state = states_[static_cast<std::size_t>(at)];
    inputs.clear();
    outputs.clear();
    for (const Slot* slot : state.inputs) inputs.push_back(slot ? &slot->view : nullptr);
    for (const Slot* slot : state.outputs) outputs.push_back(slot ? &slot->view : nullptr);
    try {
      binding = step.kernel->bind({inputs, outputs});
    } catch (Error& error) {
      error.add_context(ops::node_place(plan_.graph().node(step.node)));
      throw;
    }
    std::size_t& workspace = shape_plan.workspace_bytes[static_cast<std::size_t>(step.provider)];
    workspace = std::max(workspace, binding.workspace_bytes);
  }
}

void Frame::evaluate_shape_values(const Segment& segment, ShapePlan& shape_plan) const {
  std::size_t bytes = 0;
  for (const ShapeValue& one : segment.shape_values) bytes += 8 * one.elements.size();
  shape_plan.shape_values.resize(bytes);
  std::byte* at = shape_plan.shape_values.data();
  for (const ShapeValue& one : segment.shape_values) {
    const bool wide = plan_.graph().value(one.value).type.element == ElementType::kInt64;
    for (std::size_t i = 0; i < one.elements.size(); ++i) {
      const std::int64_t element = one.elements[i].evaluate(symbols_);
      const auto narrow = static_cast<std::int32_t>(element);
      if (wide) {
        std::memcpy(at + 8 * i, &element, sizeof element);
      } else {
        std::memcpy(at + 4 * i, &narrow, sizeof narrow);
      }
    }
    at += 8 * one.elements.size();
  }
}

void Frame::check_constraints(const Segment& segment) const {
  for (const ops::Constraint& constraint : segment.constraints) {
    const std::int64_t a = constraint.a.evaluate(symbols_), b = constraint.b.evaluate(symbols_);
    if (a == b || (constraint.kind == ops::Constraint::Kind::kBroadcastable && (a == 1 || b == 1))) continue;
    fail(ErrorCode::kInvalidArgument, "the input shapes contradict the model: {} must agree, but {} is {} and {} is {}",
         constraint.what, constraint.a.to_string(), a, constraint.b.to_string(), b);
  }
}

void Frame::apply(std::size_t index, const ShapePlan& shape_plan) {
  const Segment& segment = plan_.segments()[index];
  std::vector<std::byte*> bases(plan_.providers().size(), nullptr);
  for (std::size_t p = 0; p < bases.size(); ++p) {
    bases[p] = static_cast<std::byte*>(arenas_[index][p].ensure(provider(static_cast<std::int32_t>(p)), shape_plan.arena_bytes[p]));
    workspaces_[p].ensure(provider(static_cast<std::int32_t>(p)), shape_plan.workspace_bytes[p]);
  }
  for (std::size_t i = 0; i < segment.values.size(); ++i) {
    const ValueId id = segment.values[i];
    const ValuePlan& value = plan_.value(id);
    Slot& mine = slot(id);
    mine.is_tensor = true;
    mine.view.type = plan_.graph().value(id).type.element;
    mine.view.device = provider(value.provider).device();
    mine.view.shape = shape_plan.shapes[i];
    const ValuePlan& root = plan_.value(value.root);
    // An in-place output or a view shares its root's buffer; roots of other spaces are set as the run goes.
    if (root.space == Space::kArena && root.slot >= 0 && root.segment == static_cast<std::int32_t>(index)) {
      mine.view.data_ptr = bases[static_cast<std::size_t>(root.provider)] + shape_plan.slot_offsets[static_cast<std::size_t>(root.slot)];
    }
  }
  const std::byte* shape_value = shape_plan.shape_values.data();
  for (const ShapeValue& one : segment.shape_values) {
    slot(one.value).view.data_ptr = const_cast<std::byte*>(shape_value);  // nobody writes to it: no output shares it in place
    shape_value += 8 * one.elements.size();
  }
  for (std::size_t i = 0; i < shape_plan.bindings.size(); ++i) {
    states_[static_cast<std::size_t>(segment.steps[i])].context.bound_params = shape_plan.bindings[i].params.get();
  }
}

void Frame::allocate_outputs(std::size_t index) {
  for (ValueId output : plan_.graph().outputs) {
    const ValueId root = plan_.value(output).root;
    const ValuePlan& value = plan_.value(root);
    if (value.space != Space::kOutput || value.segment != static_cast<std::int32_t>(index)) continue;
    Slot& mine = slot(root);
    mine.object = Tensor(mine.view.type, mine.view.shape);
    mine.view.data_ptr = mine.object.tensor().view().data_ptr;
  }
}

void Frame::run_steps(const RunSettings& settings) {
  const bool has_deadline = settings.deadline != std::chrono::steady_clock::time_point::max();
  std::size_t index = 0;
  try {
    for (; index < plan_.steps().size(); ++index) {
      if (settings.cancelled && settings.cancelled->load(std::memory_order_relaxed)) fail(ErrorCode::kCancelled, "the run was cancelled");
      if (has_deadline && std::chrono::steady_clock::now() > settings.deadline) fail(ErrorCode::kDeadlineExceeded, "the run's deadline passed");
      if (!settings.profiler) {
        run_step(index, settings);
        continue;
      }
      const auto start = Profiler::Clock::now();
      run_step(index, settings);
      const auto end = Profiler::Clock::now();
      const Step& step = plan_.steps()[index];
      const graph::Node& node = plan_.graph().node(step.node);
      ProfileEvent event{node.name, node.op_type, std::string(provider(step.provider).name()), settings.profiler->since_start(start)};
      event.duration_ns = settings.profiler->since_start(end) - event.start_ns;
      event.thread = std::hash<std::thread::id>{}(std::this_thread::get_id()) % 100000;
      describe_call(states_[index].context, event);
      settings.profiler->record(std::move(event));
    }
  } catch (Error& error) {
    error.add_context(ops::node_place(plan_.graph().node(plan_.steps()[index].node)));
    throw;
  }
}

void Frame::run_step(std::size_t index, const RunSettings& settings) {
  const Step& step = plan_.steps()[index];
  StepState& state = states_[index];
  if (step.segment > 0 && !is_bound_now_[static_cast<std::size_t>(step.segment)]) {
    bind_segment(static_cast<std::size_t>(step.segment), settings);
  }
  for (std::int32_t waiting : step.sync_before) streams_[static_cast<std::size_t>(waiting)]->synchronize();
  state.context.parallel = settings.parallel;
  state.context.cancelled = settings.cancelled;
  switch (step.kind) {
    case Step::Kind::kView: run_view(step); break;
    case Step::Kind::kCopy: run_copy(step); break;
    case Step::Kind::kControlFlow:
      ControlFlow(*this, index, settings).run();
      finish_late(step);
      break;
    case Step::Kind::kKernel:
      if (step.late) {
        run_late(step, state, settings);
      } else {
        run_kernel(step, state);
      }
      break;
  }
  for (ValueId dead : step.release_after) slot(dead).object = Value();
}

void Frame::run_kernel(const Step& step, StepState& state) {
  const GrowingBuffer& workspace = workspaces_[static_cast<std::size_t>(step.provider)];
  state.context.workspace_memory = {static_cast<std::byte*>(workspace.memory.get()), workspace.capacity};
  // A view or output that shares memory with a value set while running follows it.
  if (step.provider == 0) {
    step.kernel->run(state.context);
  } else {
    streams_[static_cast<std::size_t>(step.provider)]->launch(*step.kernel, state.context);
  }
}

void Frame::run_view(const Step& step) {
  Slot& output = slot(step.outputs[0]);
  output.view.data_ptr = slot(step.inputs[0]).view.data_ptr;
}

void Frame::run_copy(const Step& step) {
  Slot &from = slot(step.inputs[0]), &to = slot(step.outputs[0]);
  const ValuePlan& target = plan_.value(step.outputs[0]);
  if (!from.is_tensor) fail(ErrorCode::kUnsupported, "a {} can't be copied between devices", from.object.kind_name());
  if (step.late) late_[static_cast<std::size_t>(target.provider)]->allocate(to, from.view.type, from.view.shape);
  const std::int32_t device = target.provider != 0 ? target.provider : plan_.value(step.inputs[0]).provider;
  streams_[static_cast<std::size_t>(device)]->copy(from.view, to.view);
}

void Frame::run_late(const Step& step, StepState& state, const RunSettings&) {
  const std::vector<ValueType> types = infer_late(step);
  for (std::size_t i = 0; i < step.outputs.size(); ++i) {
    if (step.outputs[i] == kNoValue) continue;
    Slot& output = slot(step.outputs[i]);
    output.is_tensor = false;
    output.object = Value();
    const auto shape = types[i].static_shape();
    const std::int32_t where = plan_.value(step.outputs[i]).provider;
    if (shape) late_[static_cast<std::size_t>(where)]->allocate(output, types[i].element, *shape);
  }
  std::vector<const TensorView*> inputs, outputs;
  for (const Slot* slot : state.inputs) inputs.push_back(slot && slot->is_tensor ? &slot->view : nullptr);
  for (const Slot* slot : state.outputs) outputs.push_back(slot && slot->is_tensor ? &slot->view : nullptr);
  const provider::Binding binding = step.kernel->bind({inputs, outputs});
  state.late_params = binding.params;
  state.context.bound_params = binding.params.get();
  workspaces_[static_cast<std::size_t>(step.provider)].ensure(provider(step.provider), binding.workspace_bytes);
  state.context.output_types = types;
  run_kernel(step, state);
  if (step.provider != 0) streams_[static_cast<std::size_t>(step.provider)]->synchronize();
  state.context.output_types = step.output_types;
  finish_late(step);
}

std::vector<ValueType> Frame::infer_late(const Step& step) const {
  std::vector<ValueType> types;
  std::vector<Tensor> tensors(step.inputs.size());
  std::vector<const Tensor*> constants;
  for (std::size_t i = 0; i < step.inputs.size(); ++i) {
    constants.push_back(nullptr);
    if (step.inputs[i] == kNoValue) {
      types.emplace_back();
      continue;
    }
    const Slot& slot = slots_[static_cast<std::size_t>(step.inputs[i])];
    const ValueType& declared = plan_.graph().value(step.inputs[i]).type;
    if (!slot.is_tensor) {
      // An empty sequence or optional does not tell what it is of; its declared type does.
      types.push_back(slot.object.is_map() ? provider::type_of(slot.object) : declared);
      continue;
    }
    types.push_back(ValueType::of(slot.view.type, slot.view.shape));
    if (!slot.view.device.is_host()) continue;
    tensors[i] = Tensor(slot.view.type, slot.view.shape, slot.view.data_ptr, nullptr);
    constants.back() = &tensors[i];
  }
  const graph::Node& node = plan_.graph().node(step.node);
  const graph::NodeDesc desc{node.domain, node.op_type, node.name, &node.attributes, types, {}, constants};
  graph::SymbolTable symbols;
  ops::InferContext inference(desc, step.outputs.size(), symbols);
  step.op->infer(inference);
  return std::move(inference.outputs());
}

void Frame::finish_late(const Step& step) {
  for (std::size_t i = 0; i < step.outputs.size(); ++i) {
    if (step.outputs[i] == kNoValue) continue;
    const Slot& output = slot(step.outputs[i]);
    if (output.is_tensor) match_symbols(step.output_types[i], output.view.shape, plan_.graph().value(step.outputs[i]).name, true);
  }
}

void Frame::synchronize() {
  for (const auto& stream : streams_) {
    if (stream) stream->synchronize();
  }
}

Value Frame::take_output(ValueId id, std::vector<ValueId>& taken) {
  Slot& mine = slot(id);
  if (!mine.is_tensor) return mine.object;
  const ValuePlan& value = plan_.value(id);
  Slot& root = slot(value.root);
  const bool first = std::find(taken.begin(), taken.end(), value.root) == taken.end();
  const Space space = plan_.value(value.root).space;
  if ((space == Space::kOutput || space == Space::kLate) && first && root.object.is_tensor() && root.object.tensor().owner()) {
    taken.push_back(value.root);
    return root.object.tensor().reshaped(mine.view.shape);
  }
  if (space == Space::kConstant) return plan_.constant(value.root).reshaped(mine.view.shape);
  return Tensor(mine.view.type, mine.view.shape, mine.view.data_ptr, nullptr, mine.view.device).clone();
}

}  // namespace sardonyx::runtime
