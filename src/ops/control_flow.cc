#include <utility>

#include "base/fail.h"
#include "ops/infer_context.h"
#include "ops/op_list.h"

namespace sardonyx::ops {
namespace {

/// One type that covers both: dimensions that differ become fresh symbols.
ValueType widen(InferContext& context, const ValueType& a, const ValueType& b) {
  if (a.is_none()) return b;
  if (b.is_none()) return a;
  if (a.kind == ValueType::Kind::kOptional && b.kind != ValueType::Kind::kOptional) return a;
  if (b.kind == ValueType::Kind::kOptional && a.kind != ValueType::Kind::kOptional) return b;
  if (a.kind != b.kind || a.element != b.element) {
    fail(ErrorCode::kInvalidModel, "a value is {} on one way and {} on another", a.to_string(), b.to_string());
  }
  if (!a.is_tensor()) {
    if (!a.inner || !b.inner) return a;
    ValueType merged = a;
    merged.inner = std::make_shared<const ValueType>(widen(context, *a.inner, *b.inner));
    return merged;
  }
  if (!a.has_rank || !b.has_rank || a.rank() != b.rank()) return ValueType::unranked(a.element);
  ValueType merged = a;
  if (a.values != b.values) merged.values.reset();
  for (std::size_t i = 0; i < a.rank(); ++i) {
    if (!(a.dims[i] == b.dims[i])) merged.dims[i] = context.fresh("joined");
  }
  return merged;
}

std::vector<ValueType> captured_types(InferContext& context, std::size_t first) {
  std::vector<ValueType> types;
  for (std::size_t i = first; i < context.num_inputs(); ++i) types.push_back(context.input(i));
  return types;
}

void infer_if(InferContext& context) {
  context.require(context.tensor(0).element == ElementType::kBool, "the condition of If must be a bool tensor");
  const std::vector<ValueType> captures = captured_types(context, 1);
  const auto infer_branch = [&](const char* name) {
    return context.infer_body(*context.attributes().graph(name), captures);
  };
  const std::vector<ValueType> then_types = infer_branch("then_branch");
  const std::vector<ValueType> else_types = infer_branch("else_branch");
  if (then_types.size() != else_types.size() || then_types.size() < context.num_outputs()) {
    fail(ErrorCode::kInvalidModel, "the branches of If give {} and {} outputs, the node has {}", then_types.size(),
         else_types.size(), context.num_outputs());
  }
  for (std::size_t i = 0; i < context.num_outputs(); ++i)
    context.set_output(i, widen(context, then_types[i], else_types[i]));
}

/// Types of the carried values that hold for every iteration: widened until the body gives back what it was given.
/// Returns the body's output types; `carried` gets the fixpoint.
std::vector<ValueType> infer_loop_body(InferContext& context, graph::Graph& body, const std::vector<ValueType>& before,
                                       std::vector<ValueType>& carried, const std::vector<ValueType>& after,
                                       std::size_t first_output) {
  constexpr int kMaxRounds = 16;  // each round loses dimensions or ranks for good, so few are needed
  for (ValueType& type : carried) type.values.reset();
  for (int round = 0; round < kMaxRounds; ++round) {
    std::vector<ValueType> inputs = before;
    inputs.insert(inputs.end(), carried.begin(), carried.end());
    inputs.insert(inputs.end(), after.begin(), after.end());
    std::vector<ValueType> outputs = context.infer_body(body, inputs);
    if (outputs.size() < first_output + carried.size()) {
      fail(ErrorCode::kInvalidModel, "body '{}' gives {} outputs, but {} are carried", body.name, outputs.size(),
           carried.size());
    }
    bool stable = true;
    for (std::size_t i = 0; i < carried.size(); ++i) {
      ValueType next = widen(context, carried[i], outputs[first_output + i]);
      next.values.reset();
      if (graph::same_type(next, carried[i])) continue;
      // A dimension that has changed once may change again: a fresh symbol stands for all of its values.
      carried[i] = std::move(next);
      stable = false;
    }
    if (stable) return outputs;
    if (round == kMaxRounds / 2) {
      for (ValueType& type : carried) {
        if (type.is_tensor()) type = ValueType::unranked(type.element);
      }
    }
  }
  fail(ErrorCode::kInvalidModel, "the types carried around body '{}' do not settle", body.name);
}

/// A body's per-iteration output, stacked along a new axis.
ValueType stacked(const ValueType& element, const Dim& count, std::size_t axis) {
  ValueType type = element;
  type.values.reset();
  if (type.has_rank) type.dims.insert(type.dims.begin() + static_cast<std::ptrdiff_t>(axis), count);
  return type;
}

void infer_loop(InferContext& context) {
  graph::Graph& body = *context.attributes().graph("body");
  if (body.outputs.empty() || body.inputs.size() < 2) {
    fail(ErrorCode::kInvalidModel,
         "a Loop body takes the iteration and the condition first and gives the condition back");
  }
  // Node inputs: M, condition, carried…, captures…; body inputs: iteration, condition, carried…, captures….
  if (body.inputs.size() != context.num_inputs()) {
    fail(ErrorCode::kInvalidModel, "the Loop has {} inputs, its body takes {}", context.num_inputs(),
         body.inputs.size());
  }
  const std::size_t captures = context.num_captures();
  const std::size_t carried_count = context.num_inputs() - 2 - captures;
  std::vector<ValueType> carried;
  for (std::size_t i = 0; i < carried_count; ++i) carried.push_back(context.input(2 + i));
  const std::vector<ValueType> before = {ValueType::tensor(ElementType::kInt64, {}),
                                         ValueType::tensor(ElementType::kBool, {})};
  const std::vector<ValueType> outputs =
      infer_loop_body(context, body, before, carried, captured_types(context, 2 + carried_count), 1);
  const Dim trips = context.fresh("trips");
  for (std::size_t i = 0; i < context.num_outputs(); ++i) {
    if (i + 1 >= outputs.size()) fail(ErrorCode::kInvalidModel, "the Loop has more outputs than its body gives");
    context.set_output(
        i, i < carried_count ? carried[i] : [&] {
          ValueType element = outputs[i + 1];
          if (element.has_rank) {
            for (Dim& dim : element.dims) {
              if (!dim.is_constant()) dim = context.fresh("scan");
            }
          }
          return stacked(element, trips, 0);
        }());
  }
}

void infer_scan(InferContext& context) {
  graph::Graph& body = *context.attributes().graph("body");
  const auto scans = context.attributes().get_int("num_scan_inputs");
  const std::size_t given = context.num_inputs() - context.num_captures();
  if (scans < 1 || static_cast<std::size_t>(scans) > given || body.inputs.size() != context.num_inputs()) {
    fail(ErrorCode::kInvalidModel, "Scan has {} inputs of which {} are scanned, and its body takes {}", given, scans,
         body.inputs.size());
  }
  const std::size_t states = given - static_cast<std::size_t>(scans);
  const auto axes = context.attributes().get_ints("scan_input_axes", {});
  std::vector<ValueType> carried, slices;
  for (std::size_t i = 0; i < states; ++i) carried.push_back(context.input(i));
  Dim trips = context.fresh("trips");
  for (std::size_t i = states; i < given; ++i) {
    ValueType slice = context.tensor(i);
    slice.values.reset();
    if (slice.has_rank) {
      const std::size_t axis = context.axis(i - states < axes.size() ? axes[i - states] : 0, slice.rank());
      trips = i == states ? slice.dims[axis] : context.same(slice.dims[axis], trips, "the lengths of scanned inputs");
      slice.dims.erase(slice.dims.begin() + static_cast<std::ptrdiff_t>(axis));
    }
    slices.push_back(std::move(slice));
  }
  for (ValueType& type : captured_types(context, given)) slices.push_back(std::move(type));
  const std::vector<ValueType> outputs = infer_loop_body(context, body, {}, carried, slices, 0);
  const auto output_axes = context.attributes().get_ints("scan_output_axes", {});
  for (std::size_t i = 0; i < context.num_outputs(); ++i) {
    if (i >= outputs.size()) fail(ErrorCode::kInvalidModel, "the Scan has more outputs than its body gives");
    if (i < states) {
      context.set_output(i, carried[i]);
      continue;
    }
    ValueType element = outputs[i];
    const std::int64_t axis = i - states < output_axes.size() ? output_axes[i - states] : 0;
    const std::size_t at = element.has_rank ? context.axis(axis, element.rank() + 1) : 0;
    context.set_output(i, stacked(element, trips, at));
  }
}

void infer_sequence_map(InferContext& context) {
  graph::Graph& body = *context.attributes().graph("body");
  const auto unknown_shape = [](const ValueType& element) { return ValueType::unranked(element.element); };
  std::vector<ValueType> inputs;
  const std::size_t given = context.num_inputs() - context.num_captures();
  for (std::size_t i = 0; i < context.num_inputs(); ++i) {
    const ValueType& type = context.input(i);
    const bool is_sequence = i < given && type.kind == ValueType::Kind::kSequence && type.inner;
    inputs.push_back(is_sequence ? unknown_shape(*type.inner) : type);
  }
  const std::vector<ValueType> outputs = context.infer_body(body, inputs);
  for (std::size_t i = 0; i < context.num_outputs() && i < outputs.size(); ++i) {
    context.set_output(i, ValueType::sequence(unknown_shape(outputs[i])));
  }
}

}  // namespace

void add_control_flow_ops(OpTable& table) {
  const OpTraits traits{.control_flow = true};
  table.push_back({"", "If", infer_if, traits});
  table.push_back({"", "Loop", infer_loop, traits});
  table.push_back({"", "Scan", infer_scan, traits});
  table.push_back({"", "SequenceMap", infer_sequence_map, traits});
}

}  // namespace sardonyx::ops
