#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/fail.h"
#include "base/numeric/numeric.h"
#include "graph/attribute.h"
#include "ops/infer_context.h"
#include "ops/op_list.h"
#include "ops/shape_util.h"

namespace sardonyx::ops {
namespace {

std::size_t clamp_axis(std::int64_t value, std::size_t rank) {
  const auto n = static_cast<std::int64_t>(rank);
  return static_cast<std::size_t>(std::clamp<std::int64_t>(value < 0 ? value + n : value, 0, n));
}

void infer_shape(InferContext& context) {
  const ValueType& data = context.tensor(0);
  if (!data.has_rank) return context.set_tensor(0, ElementType::kInt64, {context.fresh("rank")});
  const std::size_t start = clamp_axis(context.attributes().get_int("start", 0), data.rank());
  const std::size_t end = std::max(
      start, clamp_axis(context.attributes().get_int("end", static_cast<std::int64_t>(data.rank())), data.rank()));
  context.set_tensor(0, ElementType::kInt64, {static_cast<std::int64_t>(end - start)});
  context.set_values(0, {data.dims.begin() + static_cast<std::ptrdiff_t>(start),
                         data.dims.begin() + static_cast<std::ptrdiff_t>(end)});
}

void infer_size(InferContext& context) {
  const ValueType& data = context.tensor(0);
  context.set_tensor(0, ElementType::kInt64, {});
  if (data.has_rank) context.set_values(0, {product(data.dims)});
}

/// Output 0 has `dims` and input 0's elements in order, so it keeps known values where its rank allows.
void set_view(InferContext& context, std::vector<Dim> dims) {
  const bool low_rank = dims.size() <= 1;
  context.set_tensor(0, context.element(0), std::move(dims));
  if (!low_rank || !is_integer(context.element(0))) return;
  if (auto values = context.values(0)) context.set_values(0, std::move(*values));
}

/// Output dimensions of Reshape from the requested ones; position -1 stays as `inferred` says.
struct Requested {
  std::vector<Dim> dims;
  std::optional<std::size_t> inferred;
};

Requested read_request(InferContext& context, const std::vector<Dim>& wanted) {
  const bool allow_zero = context.attributes().get_int("allowzero", 0) != 0;
  Requested out;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].is(-1)) {
      if (out.inferred) fail(ErrorCode::kInvalidModel, "the requested shape has -1 more than once");
      out.inferred = i;
      out.dims.emplace_back(-1);
    } else if (wanted[i].is(0) && !allow_zero) {
      if (context.has_rank(0) && i >= context.rank(0)) {
        fail(ErrorCode::kInvalidModel, "the requested shape copies dimension {}, but the data has rank {}", i,
             context.rank(0));
      }
      out.dims.push_back(context.has_rank(0) ? context.dim(0, i) : context.fresh("dim"));
    } else {
      if (wanted[i].is_constant() && wanted[i].constant() < 0) {
        fail(ErrorCode::kInvalidModel, "the requested shape has dimension {}; only -1 may be negative",
             wanted[i].constant());
      }
      out.dims.push_back(wanted[i]);
    }
  }
  return out;
}

void infer_reshape(InferContext& context) {
  const ValueType& data = context.tensor(0);
  const auto wanted = context.values(1);
  if (!wanted) {
    const auto rank = known_length(context, 1);
    if (!rank) return context.set_unranked(0, data.element);
    return context.set_tensor(0, data.element, context.fresh_dims(*rank, "reshape"));
  }
  Requested request = read_request(context, *wanted);
  if (request.inferred) {
    std::vector<Dim> others = request.dims;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(*request.inferred));
    if (!data.has_rank) {
      request.dims[*request.inferred] = context.fresh("reshape");
    } else {
      request.dims[*request.inferred] = quotient(data.dims, std::move(others));
    }
  }
  if (data.has_rank) context.same(product(data.dims), product(request.dims), "the element counts before and after");
  set_view(context, std::move(request.dims));
}

void infer_flatten(InferContext& context) {
  const ValueType& data = context.tensor(0);
  if (!data.has_rank) return context.set_tensor(0, data.element, context.fresh_dims(2, "flat"));
  const std::int64_t given = context.attributes().get_int("axis", 1);
  const auto rank = static_cast<std::int64_t>(data.rank());
  if (given < -rank || given > rank) fail(ErrorCode::kInvalidModel, "axis {} is outside [{}, {}]", given, -rank, rank);
  const auto axis = static_cast<std::size_t>(given < 0 ? given + rank : given);
  context.set_tensor(0, data.element, {product(data.dims, 0, axis), product(data.dims, axis, data.rank())});
}

/// Squeeze without axes drops the dimensions that are 1, which is a matter of rank: dimensions not known leave it open.
void squeeze_ones(InferContext& context, const ValueType& data) {
  std::vector<Dim> kept;
  for (const Dim& dim : data.dims) {
    if (!dim.is_constant()) return context.set_unranked(0, data.element);
    if (!dim.is(1)) kept.push_back(dim);
  }
  set_view(context, std::move(kept));
}

void infer_squeeze(InferContext& context) {
  const ValueType& data = context.tensor(0);
  if (!data.has_rank) return context.set_unranked(0, data.element);
  if (!context.has_input(1)) return squeeze_ones(context, data);
  const auto axes = axes_input(context, 1, data.rank());
  if (!axes) {
    const auto count = known_length(context, 1);
    if (!count || *count > data.rank()) return context.set_unranked(0, data.element);
    return context.set_tensor(0, data.element, context.fresh_dims(data.rank() - *count, "squeeze"));
  }
  std::vector<Dim> kept;
  for (std::size_t i = 0; i < data.rank(); ++i) {
    if (std::find(axes->begin(), axes->end(), i) == axes->end()) {
      kept.push_back(data.dims[i]);
    } else {
      context.same(data.dims[i], 1, "a squeezed dimension and 1");
    }
  }
  set_view(context, std::move(kept));
}

void infer_unsqueeze(InferContext& context) {
  const ValueType& data = context.tensor(0);
  if (!data.has_rank) return context.set_unranked(0, data.element);
  const auto count = known_length(context, 1);
  const auto given = context.int_values(1);
  if (!given) {
    if (!count) return context.set_unranked(0, data.element);
    return context.set_tensor(0, data.element, context.fresh_dims(data.rank() + *count, "unsqueeze"));
  }
  const std::size_t rank = data.rank() + given->size();
  const std::vector<std::size_t> axes = *axes_input(context, 1, rank);
  std::vector<Dim> dims;
  for (std::size_t i = 0, next = 0; i < rank; ++i) {
    const bool inserted = std::find(axes.begin(), axes.end(), i) != axes.end();
    dims.push_back(inserted ? Dim(1) : data.dims[next++]);
  }
  set_view(context, std::move(dims));
}

void infer_expand(InferContext& context) {
  const ValueType& data = context.tensor(0);
  const auto shape = context.values(1);
  const auto rank = known_length(context, 1);
  if (!data.has_rank || (!shape && !rank)) return context.set_unranked(0, data.element);
  if (!shape) return context.set_tensor(0, data.element, context.fresh_dims(std::max(*rank, data.rank()), "expand"));
  for (const Dim& dim : *shape) {
    if (dim.is_constant() && dim.constant() < 0)
      fail(ErrorCode::kInvalidModel, "the shape has a dimension of {}", dim.constant());
  }
  std::vector<Dim> dims = context.broadcast(data.dims, *shape);
  const bool fits = dims.size() <= 1 && (dims.empty() || dims[0].is_constant());
  const std::int64_t count = fits && !dims.empty() ? dims[0].constant() : 1;
  context.set_tensor(0, data.element, std::move(dims));
  const auto values = context.values(0);
  if (!fits || !values || count > static_cast<std::int64_t>(kMaxTrackedValues)) return;
  if (values->size() == 1) context.set_values(0, std::vector<Dim>(static_cast<std::size_t>(count), (*values)[0]));
  if (values->size() != 1 && static_cast<std::int64_t>(values->size()) == count) context.set_values(0, *values);
}

/// A constant number of a floating-point type as double.
std::optional<double> float_scalar(const InferContext& context, std::size_t input) {
  const Tensor* tensor = context.constant(input);
  if (!tensor || tensor->num_elements() != 1) return std::nullopt;
  switch (tensor->type()) {
    case ElementType::kFloat32: return *tensor->data<float>();
    case ElementType::kFloat64: return *tensor->data<double>();
    case ElementType::kFloat16: return static_cast<double>(*tensor->data<Half>());
    case ElementType::kBFloat16: return static_cast<double>(*tensor->data<BFloat16>());
    default: return std::nullopt;
  }
}

Dim float_range_length(InferContext& context) {
  const auto start = float_scalar(context, 0), limit = float_scalar(context, 1), delta = float_scalar(context, 2);
  if (delta && *delta == 0) fail(ErrorCode::kInvalidModel, "delta is 0: the range would never end");
  if (!start || !limit || !delta) return context.fresh("range");
  const double count = std::max(std::ceil((*limit - *start) / *delta), 0.0);
  if (!(count < 1e15))
    fail(ErrorCode::kInvalidModel, "a range from {} to {} by {} has no usable length", *start, *limit, *delta);
  return static_cast<std::int64_t>(count);
}

void infer_integer_range(InferContext& context, ElementType element) {
  const auto start = context.values(0), limit = context.values(1), delta = context.values(2);
  const bool known = start && limit && delta && start->size() == 1 && limit->size() == 1 && delta->size() == 1;
  const bool step_known = delta && delta->size() == 1 && (*delta)[0].is_constant();
  if (step_known && (*delta)[0].is(0)) fail(ErrorCode::kInvalidModel, "delta is 0: the range would never end");
  if (!known || !step_known) return context.set_tensor(0, element, {context.fresh("range")});
  const Dim& first = (*start)[0];
  const Dim& step = (*delta)[0];
  const bool up = step.constant() > 0;
  const Dim length = max(up ? ceil_div((*limit)[0] - first, step) : ceil_div(first - (*limit)[0], Dim(0) - step), 0);
  context.set_tensor(0, element, {length});
  if (!length.is_constant() || length.constant() > static_cast<std::int64_t>(kMaxTrackedValues)) return;
  std::vector<Dim> values;
  for (std::int64_t i = 0; i < length.constant(); ++i) values.push_back(first + Dim(i) * step);
  context.set_values(0, std::move(values));
}

void infer_range(InferContext& context) {
  const ElementType element = context.tensor(0).element;
  for (std::size_t i = 1; i < 3; ++i) {
    context.require(context.tensor(i).element == element, "start, limit and delta must have one element type");
  }
  if (is_integer(element)) return infer_integer_range(context, element);
  context.set_tensor(0, element, {float_range_length(context)});
}

void infer_constant_of_shape(InferContext& context) {
  context.tensor(0);
  const Tensor* value = context.attributes().tensor("value");
  context.require(!value || value->num_elements() == 1, "attribute 'value' must have one element");
  const ElementType element = value ? value->type() : ElementType::kFloat32;
  const auto shape = context.values(0);
  if (!shape) {
    const auto rank = known_length(context, 0);
    return rank ? context.set_tensor(0, element, context.fresh_dims(*rank, "shape")) : context.set_unranked(0, element);
  }
  for (const Dim& dim : *shape) {
    if (dim.is_constant() && dim.constant() < 0)
      fail(ErrorCode::kInvalidModel, "the shape has a dimension of {}", dim.constant());
  }
  context.set_tensor(0, element, *shape);
  if (!value || !is_integer(element) || is_sub_byte(element) || shape->size() > 1) return;
  if (!shape->empty() && !(*shape)[0].is_constant()) return;
  const std::int64_t count = shape->empty() ? 1 : (*shape)[0].constant();
  if (count > static_cast<std::int64_t>(kMaxTrackedValues)) return;
  context.set_values(0, std::vector<Dim>(static_cast<std::size_t>(count), to_int64s(value->view())[0]));
}

void infer_identity(InferContext& context) {
  ValueType type = context.input(0);
  if (type.is_tensor() && !type.values && tracks_values(type)) type.values = context.values(0);
  context.set_output(0, std::move(type));
}

void infer_eye_like(InferContext& context) {
  context.require_rank(0, 2);
  const std::int64_t dtype =
      context.attributes().get_int("dtype", static_cast<std::int64_t>(context.tensor(0).element));
  context.require(is_element_type(dtype), "attribute 'dtype' is not an element type: " + std::to_string(dtype));
  if (!context.has_rank(0)) return context.set_tensor(0, static_cast<ElementType>(dtype), context.fresh_dims(2, "eye"));
  context.set_like(0, 0, static_cast<ElementType>(dtype));
}

void infer_constant(InferContext& context) {
  const graph::Attributes& attributes = context.attributes();
  const auto size_of = [](const auto& list) { return std::vector<Dim>{static_cast<std::int64_t>(list.size())}; };
  if (const Tensor* value = attributes.tensor("value")) {
    context.set_output(0, ValueType::of(value->type(), value->shape()));
    const bool tracked = value->shape().rank() <= 1 && is_integer(value->type()) && !is_sub_byte(value->type());
    if (!tracked || static_cast<std::size_t>(value->num_elements()) > kMaxTrackedValues) return;
    const std::vector<std::int64_t> numbers = to_int64s(value->view());
    return context.set_values(0, {numbers.begin(), numbers.end()});
  }
  if (attributes.has("value_int")) {
    context.set_tensor(0, ElementType::kInt64, {});
    return context.set_values(0, {attributes.get_int("value_int")});
  }
  if (const auto* ints = attributes.ints("value_ints")) {
    context.set_tensor(0, ElementType::kInt64, size_of(*ints));
    return context.set_values(0, {ints->begin(), ints->end()});
  }
  if (attributes.has("value_float")) return context.set_tensor(0, ElementType::kFloat32, {});
  if (const auto* floats = attributes.floats("value_floats"))
    return context.set_tensor(0, ElementType::kFloat32, size_of(*floats));
  if (attributes.has("value_string")) return context.set_tensor(0, ElementType::kString, {});
  if (const auto* strings = attributes.strings("value_strings"))
    return context.set_tensor(0, ElementType::kString, size_of(*strings));
  if (const graph::Attribute* sparse = attributes.find("sparse_value")) {
    const auto* tensor = std::get_if<graph::SparseTensor>(sparse);
    context.require(tensor != nullptr, "attribute 'sparse_value' must be a sparse tensor");
    return context.set_output(0, ValueType::of(tensor->values.type(), tensor->shape));
  }
  fail(ErrorCode::kInvalidModel, "Constant has none of its value attributes");
}

}  // namespace

void add_shape_ops(OpTable& table) {
  table.push_back({"", "Shape", infer_shape, {}});
  table.push_back({"", "Size", infer_size, {}});
  table.push_back({"", "Reshape", infer_reshape, {.view = true, .shape_inputs = mask({1})}});
  table.push_back({"", "Flatten", infer_flatten, {.view = true}});
  table.push_back({"", "Squeeze", infer_squeeze, {.view = true, .shape_inputs = mask({1})}});
  table.push_back({"", "Unsqueeze", infer_unsqueeze, {.view = true, .shape_inputs = mask({1})}});
  table.push_back({"", "Expand", infer_expand, {.shape_inputs = mask({1})}});
  table.push_back({"", "Range", infer_range, {.shape_inputs = mask({0, 1, 2})}});
  table.push_back({"", "ConstantOfShape", infer_constant_of_shape, {.shape_inputs = mask({0})}});
  table.push_back({"", "Identity", infer_identity, {.view = true}});
  table.push_back({"", "EyeLike", infer_eye_like, {}});
  table.push_back({"", "Constant", infer_constant, {}});
}

}  // namespace sardonyx::ops
