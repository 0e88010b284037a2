#include <cstdint>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "ops/infer_context.h"
#include "ops/op_list.h"

namespace sardonyx::ops {
namespace {

/// The dtype attribute, or `fallback` where it is left out.
ElementType output_type(const InferContext& context, ElementType fallback) {
  if (!context.attributes().has("dtype")) return fallback;
  const std::int64_t number = context.attributes().get_int("dtype");
  if (!is_element_type(number)) fail(ErrorCode::kInvalidModel, "dtype={} is not an element type", number);
  return static_cast<ElementType>(number);
}

ElementType float_output_type(const InferContext& context, ElementType fallback) {
  const ElementType type = output_type(context, fallback);
  if (!is_floating_point(type) || bit_width(type) < 16)
    fail(ErrorCode::kInvalidModel, "random numbers can't be of type {}", name(type));
  return type;
}

void infer_random(InferContext& context) {
  const std::vector<std::int64_t>* shape = context.attributes().ints("shape");
  if (!shape) fail(ErrorCode::kInvalidModel, "attribute shape is required");
  std::vector<Dim> dims;
  for (std::int64_t dim : *shape) {
    if (dim < 0) fail(ErrorCode::kInvalidModel, "shape must not hold negative numbers, found {}", dim);
    dims.emplace_back(dim);
  }
  context.set_tensor(0, float_output_type(context, ElementType::kFloat32), std::move(dims));
}

void infer_random_like(InferContext& context) {
  context.set_like(0, 0, float_output_type(context, context.tensor(0).element));
}

void infer_bernoulli(InferContext& context) {
  const ElementType type = output_type(context, context.tensor(0).element);
  if (type == ElementType::kString || is_complex(type))
    fail(ErrorCode::kInvalidModel, "Bernoulli has no output of type {}", name(type));
  context.set_like(0, 0, type);
}

void infer_multinomial(InferContext& context) {
  context.require_rank(0, 2);
  const std::int64_t samples = context.attributes().get_int("sample_size", 1);
  if (samples < 0) fail(ErrorCode::kInvalidModel, "sample_size must not be negative, found {}", samples);
  const ElementType type = output_type(context, ElementType::kInt32);
  if (type != ElementType::kInt32 && type != ElementType::kInt64)
    fail(ErrorCode::kInvalidModel, "dtype must be int32 or int64, found {}", name(type));
  context.set_tensor(0, type, {context.tensor(0).has_rank ? context.dim(0, 0) : context.fresh("batch"), samples});
}

}  // namespace

void add_random_ops(OpTable& table) {
  const OpTraits random{.nondeterministic = true};
  table.push_back({"", "RandomUniform", infer_random, random});
  table.push_back({"", "RandomNormal", infer_random, random});
  table.push_back({"", "RandomUniformLike", infer_random_like, random});
  table.push_back({"", "RandomNormalLike", infer_random_like, random});
  table.push_back({"", "Bernoulli", infer_bernoulli, random});
  table.push_back({"", "Multinomial", infer_multinomial, random});
}

}  // namespace sardonyx::ops
