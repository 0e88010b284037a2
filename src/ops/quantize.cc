#include <string>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "ops/families.h"
#include "ops/infer_context.h"
#include "ops/op_list.h"

namespace sardonyx::ops {
namespace {

std::string shapes_text(InferContext& context) {
  return context.input(0).to_string() + " with scale " + context.input(1).to_string();
}

/// A scalar, or a vector of one element: exporters mix the two.
bool is_single(const ValueType& type) {
  return type.has_rank && (type.rank() == 0 || (type.rank() == 1 && type.dims[0].is(1)));
}

/// Checks a scale's shape against x's: a scalar (or one element), a vector along `axis`, or blocks along `axis`.
void check_granularity(InferContext& context) {
  const ValueType &x = context.tensor(0), &scale = context.tensor(1);
  const bool both_single = context.has_input(2) && is_single(scale) && is_single(context.input(2));
  if (context.has_input(2) && context.has_rank(2) && scale.has_rank && !both_single) {
    context.require(context.rank(2) == scale.rank(), "scale and zero point must have one shape, found " +
                                                         scale.to_string() + " and " + context.input(2).to_string());
    for (std::size_t i = 0; i < scale.rank(); ++i)
      context.same(scale.dims[i], context.dim(2, i), "the shapes of scale and zero point");
  }
  const std::int64_t block = context.attributes().get_int("block_size", 0);
  if (block < 0) fail(ErrorCode::kInvalidModel, "block_size must not be negative, found {}", block);
  if (!x.has_rank || !scale.has_rank || scale.rank() == 0 || (scale.rank() == 1 && scale.dims[0].is(1))) return;
  const std::size_t axis = context.axis_attribute("axis", 1, x.rank());
  if (block == 0) {
    context.require(scale.rank() == 1, "a scale of more than one dimension needs block_size: " + shapes_text(context));
    context.same(scale.dims[0], x.dims[axis], "the length of the scale and of the quantised axis");
    return;
  }
  context.require(scale.rank() == x.rank(), "a blocked scale must have x's rank: " + shapes_text(context));
  for (std::size_t i = 0; i < x.rank(); ++i) {
    context.same(scale.dims[i], i == axis ? graph::ceil_div(x.dims[i], block) : x.dims[i],
                 "the shape of the scale and of x in blocks");
  }
}

ElementType type_attribute(InferContext& context, const char* attribute) {
  const std::int64_t number = context.attributes().get_int(attribute, 0);
  if (number != 0 && !is_element_type(number))
    fail(ErrorCode::kInvalidModel, "{}={} is not an element type", attribute, number);
  return static_cast<ElementType>(number);
}

void infer_quantize(InferContext& context) {
  check_granularity(context);
  ElementType type = type_attribute(context, "output_dtype");
  if (context.has_input(2)) {
    const ElementType zero = context.tensor(2).element;
    if (type != ElementType::kUndefined && type != zero) {
      fail(ErrorCode::kInvalidModel, "output_dtype is {}, but the zero point is {}", name(type), name(zero));
    }
    type = zero;
  }
  context.set_like(0, 0, type == ElementType::kUndefined ? ElementType::kUInt8 : type);
}

void infer_dequantize(InferContext& context) {
  check_granularity(context);
  if (context.has_input(2) && context.tensor(2).element != context.element(0)) {
    fail(ErrorCode::kInvalidModel, "x and its zero point must have one element type, found {} and {}",
         name(context.element(0)), name(context.element(2)));
  }
  ElementType type = type_attribute(context, "output_dtype");
  if (type == ElementType::kUndefined)
    type = context.element(1) == ElementType::kFloat8E8M0 ? ElementType::kFloat32 : context.element(1);
  context.set_like(0, 0, type);
}

void infer_dynamic_quantize(InferContext& context) {
  context.set_like(0, 0, ElementType::kUInt8);
  context.set_tensor(1, ElementType::kFloat32, {});
  context.set_tensor(2, ElementType::kUInt8, {});
}

}  // namespace

void add_quantize_ops(OpTable& table) {
  table.push_back({"", "QuantizeLinear", infer_quantize, {}});
  table.push_back({"", "DequantizeLinear", infer_dequantize, {}});
  table.push_back({"com.microsoft", "QuantizeLinear", infer_quantize, {}});
  table.push_back({"com.microsoft", "DequantizeLinear", infer_dequantize, {}});
  table.push_back({"", "DynamicQuantizeLinear", infer_dynamic_quantize, {.mixes_batch = true}});
  add_microsoft_quantize_ops(table);
}

}  // namespace sardonyx::ops
