#include "runtime/control_flow.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <limits>
#include <utility>

#include "base/fail.h"
#include "runtime/stacking.h"

namespace sardonyx::runtime {
namespace {

Slot slot_of(Value value) {
  Slot slot;
  slot.is_tensor = value.is_tensor();
  if (slot.is_tensor) slot.view = value.tensor().view();
  slot.object = std::move(value);
  return slot;
}

bool truth(const Slot& slot, const char* what) {
  if (!slot.is_tensor || slot.view.type != ElementType::kBool || slot.view.num_elements() != 1) {
    fail(ErrorCode::kInvalidArgument, "{} must be one bool", what);
  }
  return *slot.view.data<bool>();
}

}  // namespace

ControlFlow::ControlFlow(Frame& frame, std::size_t step, const RunSettings& settings)
    : frame_(frame), step_(frame.plan_.steps()[step]), state_(frame.states_[step]), settings_(settings) {}

void ControlFlow::run() {
  const std::string& op = node().op_type;
  if (op == "If") return run_if();
  if (op == "Loop") return run_loop();
  if (op == "Scan") return run_scan();
  return run_sequence_map();
}

std::vector<Value> ControlFlow::run_body(std::size_t body, const std::vector<const Slot*>& inputs) {
  Frame& frame = *state_.bodies[body];
  frame.import_symbols(frame_);
  return frame.run(inputs, settings_);
}

void ControlFlow::set_output(std::size_t index, Value value) {
  if (index >= state_.outputs.size() || !state_.outputs[index]) return;
  *state_.outputs[index] = slot_of(std::move(value));
}

void ControlFlow::add_captures(std::vector<const Slot*>& inputs) const {
  for (std::size_t i = state_.inputs.size() - captures(); i < state_.inputs.size(); ++i) inputs.push_back(input(i));
}

void ControlFlow::run_if() {
  std::vector<const Slot*> inputs;
  add_captures(inputs);
  const std::size_t branch = truth(*input(0), "the condition of If") ? 0 : 1;
  std::vector<Value> outputs = run_body(branch, inputs);
  for (std::size_t i = 0; i < outputs.size(); ++i) set_output(i, std::move(outputs[i]));
}

void ControlFlow::run_loop() {
  const std::size_t carried_count = step_.inputs.size() - 2 - captures();
  std::int64_t trips = std::numeric_limits<std::int64_t>::max();
  if (input(0)) {
    if (input(0)->view.num_elements() != 1) fail(ErrorCode::kInvalidArgument, "the trip count of Loop must be one int64");
    trips = *input(0)->view.data<std::int64_t>();
  }
  bool condition = !input(1) || truth(*input(1), "the condition of Loop");
  std::deque<Slot> carried;
  for (std::size_t i = 0; i < carried_count; ++i) carried.push_back(input(2 + i) ? *input(2 + i) : Slot{});
  const std::size_t scan_count = frame_.states_.empty() ? 0 : state_.bodies[0]->plan().graph().outputs.size() - 1 - carried_count;
  std::vector<Stacker> scans(scan_count);

  for (std::int64_t iteration = 0; iteration < trips && condition; ++iteration) {
    const Slot number = slot_of(Tensor::scalar<std::int64_t>(iteration));
    const Slot keep_going = slot_of(Tensor::scalar<bool>(condition));
    std::vector<const Slot*> inputs = {&number, &keep_going};
    for (const Slot& slot : carried) inputs.push_back(&slot);
    add_captures(inputs);
    std::vector<Value> outputs = run_body(0, inputs);
    condition = truth(slot_of(outputs[0]), "the condition that a Loop body gives");
    for (std::size_t i = 0; i < carried_count; ++i) carried[i] = slot_of(std::move(outputs[1 + i]));
    for (std::size_t i = 0; i < scan_count; ++i) scans[i].add(outputs[1 + carried_count + i]);
  }
  for (std::size_t i = 0; i < carried_count; ++i) {
    // Untouched carried values are the caller's memory: a copy owns itself.
    Slot& slot = carried[i];
    set_output(i, slot.is_tensor && !slot.object.is_tensor() ? Value(Tensor(slot.view.type, slot.view.shape, slot.view.data_ptr, nullptr).clone()) : slot.object);
  }
  for (std::size_t i = 0; i < scan_count; ++i) {
    const std::size_t output = carried_count + i;
    if (output >= state_.outputs.size() || !state_.outputs[output]) continue;
    set_output(output, scans[i].finish(step_.output_types[output], 0));
  }
}

void ControlFlow::run_scan() {
  const auto& attributes = node().attributes;
  const auto scan_inputs = static_cast<std::size_t>(attributes.get_int("num_scan_inputs"));
  const std::size_t given = step_.inputs.size() - captures();
  const std::size_t states = given - scan_inputs;
  const auto input_axes = attributes.get_ints("scan_input_axes", {});
  const auto input_directions = attributes.get_ints("scan_input_directions", {});
  const auto output_axes = attributes.get_ints("scan_output_axes", {});
  const auto output_directions = attributes.get_ints("scan_output_directions", {});
  const auto at = [](const std::vector<std::int64_t>& list, std::size_t i) { return i < list.size() ? list[i] : 0; };

  std::vector<std::size_t> axes(scan_inputs);
  std::int64_t trips = -1;
  for (std::size_t i = 0; i < scan_inputs; ++i) {
    const Shape& shape = input(states + i)->view.shape;
    const auto rank = static_cast<std::int64_t>(shape.rank());
    const std::int64_t axis = at(input_axes, i) + (at(input_axes, i) < 0 ? rank : 0);
    if (axis < 0 || axis >= rank) fail(ErrorCode::kInvalidArgument, "scan axis {} is outside shape {}", axis, shape.to_string());
    axes[i] = static_cast<std::size_t>(axis);
    if (trips >= 0 && trips != shape[axes[i]]) fail(ErrorCode::kInvalidArgument, "scanned inputs differ in length: {} and {}", trips, shape[axes[i]]);
    trips = shape[axes[i]];
  }
  std::deque<Slot> carried;
  for (std::size_t i = 0; i < states; ++i) carried.push_back(*input(i));
  const std::size_t scan_outputs = state_.bodies[0]->plan().graph().outputs.size() - states;
  std::vector<Stacker> stackers(scan_outputs);
  for (std::int64_t iteration = 0; iteration < trips; ++iteration) {
    std::deque<Slot> slices;
    for (std::size_t i = 0; i < scan_inputs; ++i) {
      const std::int64_t index = at(input_directions, i) == 1 ? trips - 1 - iteration : iteration;
      slices.push_back(slot_of(slice_along(input(states + i)->view, axes[i], index)));
    }
    std::vector<const Slot*> inputs;
    for (const Slot& slot : carried) inputs.push_back(&slot);
    for (const Slot& slot : slices) inputs.push_back(&slot);
    add_captures(inputs);
    std::vector<Value> outputs = run_body(0, inputs);
    for (std::size_t i = 0; i < states; ++i) carried[i] = slot_of(std::move(outputs[i]));
    for (std::size_t i = 0; i < scan_outputs; ++i) stackers[i].add(outputs[states + i]);
  }
  for (std::size_t i = 0; i < states; ++i) {
    Slot& slot = carried[i];
    set_output(i, slot.is_tensor && !slot.object.is_tensor() ? Value(Tensor(slot.view.type, slot.view.shape, slot.view.data_ptr, nullptr).clone()) : slot.object);
  }
  for (std::size_t i = 0; i < scan_outputs; ++i) {
    const std::size_t output = states + i;
    if (output >= state_.outputs.size() || !state_.outputs[output]) continue;
    if (at(output_directions, i) == 1) stackers[i].reverse();
    set_output(output, stackers[i].finish(step_.output_types[output], at(output_axes, i)));
  }
}

void ControlFlow::run_sequence_map() {
  const std::size_t given = step_.inputs.size() - captures();
  const Sequence& first = input(0)->object.sequence();
  std::vector<Sequence> results(state_.bodies[0]->plan().graph().outputs.size());
  for (std::size_t item = 0; item < first.items.size(); ++item) {
    std::deque<Slot> items;
    std::vector<const Slot*> inputs;
    for (std::size_t i = 0; i < given; ++i) {
      if (input(i)->is_tensor) {
        inputs.push_back(input(i));
        continue;
      }
      const Sequence& sequence = input(i)->object.sequence();
      if (sequence.items.size() != first.items.size()) {
        fail(ErrorCode::kInvalidArgument, "sequences of SequenceMap differ in length: {} and {}", first.items.size(), sequence.items.size());
      }
      items.push_back(slot_of(sequence.items[item]));
      inputs.push_back(&items.back());
    }
    add_captures(inputs);
    std::vector<Value> outputs = run_body(0, inputs);
    for (std::size_t i = 0; i < outputs.size(); ++i) results[i].items.push_back(std::move(outputs[i]));
  }
  for (std::size_t i = 0; i < results.size() && i < state_.outputs.size(); ++i) {
    const auto& type = step_.output_types[i];
    if (type.inner) results[i].element_type = type.inner->element;
    set_output(i, std::move(results[i]));
  }
}

}  // namespace sardonyx::runtime
