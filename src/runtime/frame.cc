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

/// An operator whose inputs decide its outputs' shapes must tell them once the inputs are there. Where it does not, those inputs
/// are of a form that it does not know, such as a matrix for a list of axes.
void Frame::require_late_shape(const Step& step, std::size_t output, const ValueType& type) const {
  const graph::Node& node = plan_.graph().node(step.node);
  const ops::OpDef* op = ops::find_op(node.domain, node.op_type);
  if (!op || op->traits.shape_inputs == 0 || op->traits.data_dependent || !type.is_tensor()) return;
  std::string inputs;
  for (ValueId input : step.inputs) {
    if (input == kNoValue || !slots_[static_cast<std::size_t>(input)].is_tensor) continue;
    const TensorView& view = slots_[static_cast<std::size_t>(input)].view;
    inputs += (inputs.empty() ? "" : ", ") + ValueType::of(view.type, view.shape).to_string();
  }
  fail(ErrorCode::kInvalidModel, "the shape of output {} does not follow from inputs {}", output, inputs);
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
    if (!shape) require_late_shape(step, i, types[i]);
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
