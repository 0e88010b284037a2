// The part of Frame that binds segments to shapes.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/fail.h"
#include "runtime/frame.h"

namespace sardonyx::runtime {

using graph::ValueType;

void Frame::match_symbols(const ValueType& type, const Shape& shape, const std::string& what, bool define) {
  if (!type.is_tensor() || !type.has_rank) return;
  if (type.rank() != shape.rank()) {
    fail(ErrorCode::kInvalidArgument, "'{}' has shape {}, but the model expects {}", what, shape.to_string(),
         type.to_string());
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
  }
  std::vector<std::size_t> value_bytes(segment.values.size());
  shape_plan->shapes.resize(segment.values.size());
  for (std::size_t i = 0; i < segment.values.size(); ++i) {
    for (std::int32_t expression : segment.dims[i]) {
      const std::int64_t size = sizes[static_cast<std::size_t>(expression)];
      if (size < 0) refuse_size(segment.values[i], segment.expressions[static_cast<std::size_t>(expression)], size);
      shape_plan->shapes[i].push_back(size);
    }
    value_bytes[i] =
        byte_size(plan_.graph().value(segment.values[i]).type.element, shape_plan->shapes[i].num_elements());
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

void Frame::refuse_size(graph::ValueId value, const Dim& expression, std::int64_t size) const {
  Error error(ErrorCode::kInvalidArgument,
              fmt::format("the dimension {} would be {} for these inputs", expression.to_string(), size));
  if (const graph::Node* node = plan_.graph().producer(value)) error.add_context(ops::node_place(*node));
  throw error;
}

void Frame::check_constraints(const Segment& segment) const {
  for (const ops::Constraint& constraint : segment.constraints) {
    const std::int64_t a = constraint.a.evaluate(symbols_), b = constraint.b.evaluate(symbols_);
    using Kind = ops::Constraint::Kind;
    if (a == b || (constraint.kind != Kind::kEqual && a == 1) || (constraint.kind == Kind::kBroadcastable && b == 1))
      continue;
    Error error(ErrorCode::kInvalidArgument,
                fmt::format("the input shapes contradict the model: {} must agree, but {} is {} and {} is {}",
                            constraint.what, constraint.a.to_string(), a, constraint.b.to_string(), b));
    error.add_context(constraint.node);
    throw error;
  }
}

void Frame::apply(std::size_t index, const ShapePlan& shape_plan) {
  const Segment& segment = plan_.segments()[index];
  std::vector<std::byte*> bases(plan_.providers().size(), nullptr);
  for (std::size_t p = 0; p < bases.size(); ++p) {
    bases[p] = static_cast<std::byte*>(
        arenas_[index][p].ensure(provider(static_cast<std::int32_t>(p)), shape_plan.arena_bytes[p]));
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
      mine.view.data_ptr =
          bases[static_cast<std::size_t>(root.provider)] + shape_plan.slot_offsets[static_cast<std::size_t>(root.slot)];
    }
  }
  const std::byte* shape_value = shape_plan.shape_values.data();
  for (const ShapeValue& one : segment.shape_values) {
    slot(one.value).view.data_ptr =
        const_cast<std::byte*>(shape_value);  // nobody writes to it: no output shares it in place
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

}  // namespace sardonyx::runtime
