#include <string>
#include <utility>

#include "base/fail.h"
#include "graph/attribute.h"
#include "ops/infer_context.h"
#include "ops/op_list.h"

namespace sardonyx::ops {
namespace {

/// The type of elements that are each `a` or `b`: what both agree on. Dimensions they don't share leave only the rank;
/// where that differs too, nothing.
ValueType common_type(const ValueType& a, const ValueType& b) {
  if (a.is_none() || (a.is_tensor() && a.element == ElementType::kUndefined)) return b;
  if (!a.is_tensor() || !b.is_tensor()) return a;
  if (a.element != b.element) {
    fail(ErrorCode::kInvalidModel, "elements of a sequence must have one type, found {} and {}", a.to_string(),
         b.to_string());
  }
  ValueType common = a;
  common.values.reset();
  if (!a.has_rank || !b.has_rank || a.dims != b.dims) return ValueType::unranked(a.element);
  return common;
}

const ValueType& sequence_element(const InferContext& context, std::size_t i) {
  const ValueType& type = context.input(i);
  if (type.kind != ValueType::Kind::kSequence || !type.inner) {
    fail(ErrorCode::kInvalidModel, "input {} must be a sequence, but it is {}", i, type.to_string());
  }
  return *type.inner;
}

/// An element's type where it stands alone: elements differ in what is not a number, so each gets symbols of its own.
ValueType standalone(InferContext& context, ValueType type) {
  for (Dim& dim : type.dims) {
    if (!dim.is_constant()) dim = context.fresh("element");
  }
  return type;
}

void infer_sequence_construct(InferContext& context) {
  context.require(context.num_inputs() > 0, "SequenceConstruct needs at least one tensor");
  ValueType element;
  for (std::size_t i = 0; i < context.num_inputs(); ++i) element = common_type(element, context.tensor(i));
  element.values.reset();
  context.set_output(0, ValueType::sequence(std::move(element)));
}

void infer_sequence_empty(InferContext& context) {
  const std::int64_t type = context.attributes().get_int("dtype", 1);
  context.require(is_element_type(type), "attribute 'dtype' is not an element type: " + std::to_string(type));
  // Nothing is known of elements to come, so insertions must not take a rank from here.
  context.set_output(0, ValueType::sequence(ValueType::unranked(static_cast<ElementType>(type))));
}

void infer_sequence_at(InferContext& context) {
  context.set_output(0, standalone(context, sequence_element(context, 0)));
}

void infer_sequence_insert(InferContext& context) {
  context.set_output(0, ValueType::sequence(common_type(sequence_element(context, 0), context.tensor(1))));
}

void infer_sequence_erase(InferContext& context) {
  sequence_element(context, 0);
  context.set_output(0, context.input(0));
}

void infer_sequence_length(InferContext& context) {
  sequence_element(context, 0);
  context.set_tensor(0, ElementType::kInt64, {});
}

void infer_split_to_sequence(InferContext& context) {
  const ValueType& data = context.tensor(0);
  if (!data.has_rank) return context.set_output(0, ValueType::sequence(ValueType::unranked(data.element)));
  const std::size_t axis = context.axis_attribute("axis", 0, data.rank());
  std::vector<Dim> dims = data.dims;
  if (context.has_input(1)) {
    dims[axis] = context.fresh("part");
  } else if (context.attributes().get_int("keepdims", 1) != 0) {
    dims[axis] = 1;
  } else {
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  }
  context.set_output(0, ValueType::sequence(ValueType::tensor(data.element, std::move(dims))));
}

void infer_concat_from_sequence(InferContext& context) {
  const ValueType& element = sequence_element(context, 0);
  const bool new_axis = context.attributes().get_int("new_axis", 0) != 0;
  if (!element.has_rank) return context.set_unranked(0, element.element);
  std::vector<Dim> dims = standalone(context, element).dims;
  const std::size_t axis = context.axis(context.attributes().get_int("axis"), dims.size() + (new_axis ? 1 : 0));
  if (new_axis) {
    dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), context.fresh("stack"));
  } else {
    dims[axis] = context.fresh("concat");
  }
  context.set_tensor(0, element.element, std::move(dims));
}

void infer_optional(InferContext& context) {
  ValueType inner = context.input(0);
  inner.values.reset();
  if (!context.has_input(0)) {
    const graph::Attribute* type = context.attributes().find("type");
    const auto* given = type ? std::get_if<ValueType>(type) : nullptr;
    context.require(given != nullptr, "an Optional without input needs the attribute 'type'");
    inner = *given;
  }
  context.set_output(0, ValueType::optional(std::move(inner)));
}

void infer_optional_get_element(InferContext& context) {
  const ValueType& type = context.input(0);
  context.require(!type.is_none(), "the optional holds nothing");
  context.set_output(0, type.kind == ValueType::Kind::kOptional && type.inner ? *type.inner : type);
}

void infer_optional_has_element(InferContext& context) { context.set_tensor(0, ElementType::kBool, {}); }

}  // namespace

void add_sequence_ops(OpTable& table) {
  table.push_back({"", "SequenceConstruct", infer_sequence_construct, {}});
  table.push_back({"", "SequenceEmpty", infer_sequence_empty, {}});
  table.push_back({"", "SequenceAt", infer_sequence_at, {.data_dependent = true}});
  table.push_back({"", "SequenceInsert", infer_sequence_insert, {}});
  table.push_back({"", "SequenceErase", infer_sequence_erase, {}});
  table.push_back({"", "SequenceLength", infer_sequence_length, {}});
  table.push_back({"", "SplitToSequence", infer_split_to_sequence, {}});
  table.push_back({"", "ConcatFromSequence", infer_concat_from_sequence, {.data_dependent = true}});
  table.push_back({"", "Optional", infer_optional, {}});
  table.push_back({"", "OptionalGetElement", infer_optional_get_element, {.data_dependent = true}});
  table.push_back({"", "OptionalHasElement", infer_optional_has_element, {}});
}

}  // namespace sardonyx::ops
