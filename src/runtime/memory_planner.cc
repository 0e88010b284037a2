// The part of PlanBuilder that decides which values share memory.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "runtime/plan_builder.h"

namespace sardonyx::runtime {

using graph::kNoValue;

namespace {

constexpr std::int32_t kForever = std::numeric_limits<std::int32_t>::max();

/// Elements of a value, where every symbol is worth some typical number: only to choose among free buffers.
double typical_bytes(const graph::ValueType& type, const graph::SymbolTable& symbols) {
  static thread_local std::vector<std::int64_t> typical;
  typical.assign(symbols.size(), 32);
  double bytes = bit_width(type.element) / 8.0;
  for (const Dim& dim : type.dims) bytes *= static_cast<double>(dim.evaluate(typical));
  return bytes;
}

bool same_dims(const graph::ValueType& a, const graph::ValueType& b) { return a.element == b.element && a.dims == b.dims; }

}  // namespace

void PlanBuilder::assign_memory() {
  find_last_uses();
  mark_outputs();
  for (std::size_t position = 0; position < plan_->steps_.size(); ++position) {
    Step& step = plan_->steps_[position];
    const bool in_place = step.kind == Step::Kind::kKernel && !step.late && try_in_place(step, position);
    for (std::size_t i = 0; i < step.outputs.size(); ++i) {
      const ValueId output = step.outputs[i];
      if (output == kNoValue || (i == 0 && in_place)) continue;
      if (value_plan(output).space == Space::kArena && root_of(output) == output) assign_slot(output, position);
    }
    // Free what this step read for the last time, and outputs that nobody reads.
    std::vector<ValueId> done;
    for (const auto* list : {&step.inputs, &step.outputs}) {
      for (ValueId value : *list) {
        if (value == kNoValue) continue;
        const ValueId root = root_of(value);
        if (last_use_[static_cast<std::size_t>(root)] == static_cast<std::int32_t>(position)) done.push_back(root);
      }
    }
    std::sort(done.begin(), done.end());
    done.erase(std::unique(done.begin(), done.end()), done.end());
    for (ValueId root : done) {
      const ValuePlan& value = value_plan(root);
      if (value.space == Space::kLate) step.release_after.push_back(root);
      if (value.space == Space::kArena && value.slot >= 0) free_slots_.push_back({value.segment, value.slot});
    }
  }
}

void PlanBuilder::find_last_uses() {
  last_use_.assign(graph_.value_count(), -1);
  for (std::size_t position = 0; position < plan_->steps_.size(); ++position) {
    const Step& step = plan_->steps_[position];
    const auto touch = [&](ValueId value) {
      if (value == kNoValue) return;
      std::int32_t& last = last_use_[static_cast<std::size_t>(root_of(value))];
      last = std::max(last, static_cast<std::int32_t>(position));
      // A device works some time later. Its own arena is reused in the order of its stream; what lies on the host (the source
      // of a copy, a shape) and what was allocated while running stays as it is until the run ends.
      const ValuePlan& memory = value_plan(root_of(value));
      const bool read_later = step.provider != 0 && (memory.provider == 0 || memory.space == Space::kLate);
      if (read_later) last = kForever;
    };
    for (ValueId value : step.outputs) touch(value);
    for (ValueId value : step.inputs) touch(value);
  }
  for (ValueId output : graph_.outputs) last_use_[static_cast<std::size_t>(root_of(output))] = kForever;
}

void PlanBuilder::mark_outputs() {
  for (ValueId output : graph_.outputs) {
    const ValueId root = root_of(output);
    if (value_plan(root).space == Space::kArena && value_plan(root).provider == 0) value_plan(root).space = Space::kOutput;
  }
  // Views share their root's space.
  for (const Step& step : plan_->steps_) {
    if (step.kind == Step::Kind::kView) value_plan(step.outputs[0]).space = value_plan(root_of(step.outputs[0])).space;
  }
}

bool PlanBuilder::try_in_place(const Step& step, std::size_t position) {
  if (!step.op || step.outputs.empty() || step.outputs[0] == kNoValue) return false;
  const ValueId output = step.outputs[0];
  if (value_plan(output).space != Space::kArena) return false;
  for (std::size_t i = 0; i < step.inputs.size() && i < 32; ++i) {
    const ValueId input = step.inputs[i];
    if (!(step.op->traits.in_place >> i & 1) || input == kNoValue) continue;
    const ValueId root = root_of(input);
    const ValuePlan& from = value_plan(root);
    const bool dies_here = last_use_[static_cast<std::size_t>(root)] == static_cast<std::int32_t>(position);
    const bool read_twice = std::count(step.inputs.begin(), step.inputs.end(), input) > 1 ||
                            std::any_of(step.inputs.begin(), step.inputs.end(), [&](ValueId v) { return v != kNoValue && v != input && root_of(v) == root; });
    if (from.space != Space::kArena || from.slot < 0 || !dies_here || read_twice || from.provider != value_plan(output).provider) continue;
    if (!same_dims(graph_.value(input).type, graph_.value(output).type)) continue;
    // From here on the output is one more view of the input's memory.
    const std::int32_t output_last = last_use_[static_cast<std::size_t>(output)];
    value_plan(output).root = root;
    last_use_[static_cast<std::size_t>(root)] = output_last;
    return true;
  }
  return false;
}

void PlanBuilder::assign_slot(ValueId id, std::size_t) {
  ValuePlan& value = value_plan(id);
  const graph::ValueType& type = graph_.value(id).type;
  const graph::SymbolTable& symbols = plan_->model().symbols;
  const double wanted = typical_bytes(type, symbols);
  double best_waste = std::numeric_limits<double>::infinity();
  std::size_t best = free_slots_.size();
  for (std::size_t i = 0; i < free_slots_.size(); ++i) {
    if (free_slots_[i].segment != value.segment) continue;
    const ArenaSlot& slot = segment(value.segment).slots[static_cast<std::size_t>(free_slots_[i].slot)];
    if (slot.provider != value.provider) continue;
    double waste = same_dims(graph_.value(slot.values[0]).type, type) ? 0 : 1;
    if (waste > 0) {
      double size = 0;
      for (ValueId other : slot.values) size = std::max(size, typical_bytes(graph_.value(other).type, symbols));
      waste += std::abs(size - wanted);
    }
    if (waste < best_waste) {
      best_waste = waste;
      best = i;
    }
  }
  if (best < free_slots_.size()) {
    value.slot = free_slots_[best].slot;
    free_slots_.erase(free_slots_.begin() + static_cast<std::ptrdiff_t>(best));
  } else {
    value.slot = static_cast<std::int32_t>(segment(value.segment).slots.size());
    segment(value.segment).slots.push_back({value.provider, {}});
  }
  segment(value.segment).slots[static_cast<std::size_t>(value.slot)].values.push_back(id);
}

void PlanBuilder::find_synchronizations() {
  // Results of a device reach the host through Copy steps (and host outputs of its kernels); the first host step that reads one
  // waits for the device's stream. A wait covers everything enqueued before it.
  std::vector<std::int32_t> pending(graph_.value_count(), 0);  // by root: provider whose stream writes it, 0 none
  std::vector<ValueId> written;
  for (Step& step : plan_->steps_) {
    const bool on_host = step.provider == 0 && step.kind != Step::Kind::kCopy;
    for (ValueId input : step.inputs) {
      if (input == kNoValue || !(on_host || step.late)) continue;
      const std::int32_t provider = pending[static_cast<std::size_t>(root_of(input))];
      if (provider == 0 || std::find(step.sync_before.begin(), step.sync_before.end(), provider) != step.sync_before.end()) continue;
      step.sync_before.push_back(provider);
    }
    for (std::int32_t provider : step.sync_before) {
      for (ValueId root : written) {
        if (pending[static_cast<std::size_t>(root)] == provider) pending[static_cast<std::size_t>(root)] = 0;
      }
    }
    if (step.provider == 0 && step.kind != Step::Kind::kCopy) continue;
    for (ValueId output : step.outputs) {
      if (output == kNoValue || value_plan(output).provider != 0) continue;
      pending[static_cast<std::size_t>(root_of(output))] = step.provider;
      written.push_back(root_of(output));
    }
  }
}

}  // namespace sardonyx::runtime
