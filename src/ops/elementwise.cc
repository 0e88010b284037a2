#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "ops/families.h"
#include "ops/infer_context.h"
#include "ops/op_list.h"
#include "ops/value_arithmetic.h"

namespace sardonyx::ops {
namespace {

constexpr const char* kUnary[] = {
    "Abs",      "Acos",       "Acosh", "Asin",  "Asinh", "Atan",   "Atanh",           "Ceil",      "Celu",      "Cos",
    "Cosh",     "Elu",        "Erf",   "Exp",   "Floor", "Gelu",   "HardSigmoid",     "HardSwish", "LeakyRelu", "Log",
    "Mish",     "Reciprocal", "Relu",  "Round", "Selu",  "Shrink", "Sigmoid",         "Sign",      "Sin",       "Sinh",
    "Softplus", "Softsign",   "Sqrt",  "Swish", "Tan",   "Tanh",   "ThresholdedRelu",
};

void require_same_element(InferContext& context, std::size_t a, std::size_t b) {
  if (context.tensor(a).element == context.tensor(b).element) return;
  fail(ErrorCode::kInvalidModel, "inputs {} and {} must have one element type, found {} and {}", a, b,
       context.input(a).to_string(), context.input(b).to_string());
}

void set_broadcast(InferContext& context, std::size_t a, std::size_t b, ElementType element) {
  const ValueType &x = context.tensor(a), &y = context.tensor(b);
  if (!x.has_rank || !y.has_rank) return context.set_unranked(0, element);
  context.set_tensor(0, element, context.broadcast(x.dims, y.dims));
}

void infer_unary(InferContext& context) { context.set_like(0, 0); }

void infer_neg(InferContext& context) {
  context.set_like(0, 0);
  const auto values = context.values(0);
  if (!values || !context.has_rank(0) || context.rank(0) > 1 || context.element(0) != ElementType::kInt64) return;
  std::vector<Dim> out;
  for (const Dim& value : *values) {
    if (const auto negated = dim_sub(0, value)) out.push_back(*negated);
  }
  if (out.size() == values->size()) context.set_values(0, std::move(out));
}

/// Binary operators that broadcast and keep the element type.
template <DimFn kValues>
void infer_binary(InferContext& context) {
  require_same_element(context, 0, 1);
  set_broadcast(context, 0, 1, context.element(0));
  if (kValues != nullptr) propagate_binary(context, 0, 1, kValues);
}

void infer_mod(InferContext& context) {
  const bool fmod = context.attributes().get_int("fmod", 0) != 0;
  infer_binary<nullptr>(context);
  if (!fmod && is_floating_point(context.element(0))) {
    fail(ErrorCode::kInvalidModel, "Mod of {} tensors needs fmod=1", name(context.element(0)));
  }
  if (!fmod) propagate_binary(context, 0, 1, dim_mod);
}

/// Pow keeps the base's type; the exponent may have another one.
void infer_pow(InferContext& context) { set_broadcast(context, 0, 1, context.tensor(0).element); }

void infer_bit_shift(InferContext& context) {
  const std::string& direction = context.attributes().get_string("direction");
  if (direction != "LEFT" && direction != "RIGHT")
    fail(ErrorCode::kInvalidModel, "direction must be LEFT or RIGHT, found '{}'", direction);
  infer_binary<nullptr>(context);
}

/// The slope broadcasts to x, never the other way round.
void infer_prelu(InferContext& context) {
  require_same_element(context, 0, 1);
  if (context.has_rank(0) && context.has_rank(1)) {
    const std::size_t rank = context.rank(0), own = context.rank(1);
    context.require(own <= rank, "the slope must broadcast to x, but it has more dimensions");
    for (std::size_t i = 0; i < own; ++i) {
      context.require_broadcasts_to(context.dim(1, i), context.dim(0, rank - own + i), "dimensions of the slope and x");
    }
  }
  context.set_like(0, 0);
}

/// com.microsoft: an optional bias along the last dimension.
void infer_fast_gelu(InferContext& context) {
  if (context.has_input(1)) {
    require_same_element(context, 0, 1);
    context.require_rank(1, 1);
    if (context.has_rank(0) && context.has_rank(1) && context.rank(0) > 0) {
      context.same(context.dims(0).back(), context.dim(1, 0), "the bias and the last dimension of x");
    }
  }
  context.set_like(0, 0);
}

/// Min, Max, Mean, Sum: one or more inputs.
template <DimFn kValues>
void infer_variadic(InferContext& context) {
  if (context.num_inputs() == 0) fail(ErrorCode::kInvalidModel, "at least one input is needed");
  bool ranked = true;
  std::vector<Dim> dims;
  for (std::size_t i = 0; i < context.num_inputs(); ++i) {
    require_same_element(context, 0, i);
    ranked = ranked && context.has_rank(i);
    if (ranked) dims = i == 0 ? context.dims(0) : context.broadcast(dims, context.dims(i));
  }
  if (!ranked) return context.set_unranked(0, context.element(0));
  context.set_tensor(0, context.element(0), dims);
  if (kValues != nullptr) {
    if (context.num_inputs() == 2) propagate_binary(context, 0, 1, kValues);
  }
}

void infer_clip(InferContext& context) {
  for (std::size_t i = 1; i <= 2; ++i) {
    if (!context.has_input(i)) continue;
    require_same_element(context, 0, i);
    context.require_rank(i, 0);
  }
  context.set_like(0, 0);
  auto values = context.values(0);
  if (!values || context.element(0) != ElementType::kInt64 || !context.has_rank(0) || context.rank(0) > 1) return;
  const auto low = context.values(1), high = context.values(2);
  if ((context.has_input(1) && !low) || (context.has_input(2) && !high)) return;
  for (Dim& value : *values) {
    if (low) value = graph::max(value, low->front());
    if (high) value = graph::min(value, high->front());
  }
  context.set_values(0, std::move(*values));
}

void infer_where(InferContext& context) {
  context.require(context.tensor(0).element == ElementType::kBool,
                  "the condition must be bool, found " + context.input(0).to_string());
  require_same_element(context, 1, 2);
  if (!context.has_rank(0) || !context.has_rank(1) || !context.has_rank(2))
    return context.set_unranked(0, context.element(1));
  context.set_tensor(0, context.element(1),
                     context.broadcast(context.dims(0), context.broadcast(context.dims(1), context.dims(2))));
  const ValueType* out = context.num_outputs() > 0 ? &context.outputs()[0] : nullptr;
  if (!out || out->rank() > 1 || !is_integer(out->element)) return;
  std::optional<std::vector<Dim>> condition = context.input(0).values;
  if (const Tensor* constant = context.constant(0)) {
    const auto numbers = to_int64s(constant->view());
    condition = std::vector<Dim>(numbers.begin(), numbers.end());
  }
  const auto x = context.values(1), y = context.values(2);
  if (!condition || !x || !y) return;
  const std::size_t count = std::max({condition->size(), x->size(), y->size()});
  const auto at = [](const std::vector<Dim>& values, std::size_t i) -> const Dim& {
    return values[values.size() == 1 ? 0 : i];
  };
  if (condition->empty() || x->empty() || y->empty()) return;
  std::vector<Dim> values;
  for (std::size_t i = 0; i < count; ++i) {
    const Dim& chosen = at(*condition, i);
    if (chosen.is_constant()) {
      values.push_back(chosen.constant() != 0 ? at(*x, i) : at(*y, i));
    } else if (at(*x, i) == at(*y, i)) {
      values.push_back(at(*x, i));
    } else {
      return;
    }
  }
  context.set_values(0, std::move(values));
}

}  // namespace

void add_elementwise_ops(OpTable& table) {
  for (const char* name : kUnary) table.push_back({"", name, infer_unary, {.in_place = mask({0})}});
  table.push_back({"", "Neg", infer_neg, {.in_place = mask({0})}});
  const OpTraits both{.in_place = mask({0, 1})};
  table.push_back({"", "Add", infer_binary<dim_add>, both});
  table.push_back({"", "Sub", infer_binary<dim_sub>, both});
  table.push_back({"", "Mul", infer_binary<dim_mul>, both});
  table.push_back({"", "Div", infer_binary<dim_div>, both});
  table.push_back({"", "Mod", infer_mod, both});
  table.push_back({"", "Pow", infer_pow, {.in_place = mask({0})}});
  table.push_back({"", "PRelu", infer_prelu, {.in_place = mask({0})}});
  table.push_back({"", "BitShift", infer_bit_shift, both});
  table.push_back({"", "Min", infer_variadic<dim_min>, {}});
  table.push_back({"", "Max", infer_variadic<dim_max>, {}});
  table.push_back({"", "Mean", infer_variadic<nullptr>, {}});
  table.push_back({"", "Sum", infer_variadic<nullptr>, {}});
  table.push_back({"", "Clip", infer_clip, {.in_place = mask({0})}});
  table.push_back({"", "Where", infer_where, {.in_place = mask({1, 2})}});
  for (const char* name : {"Gelu", "QuickGelu"})
    table.push_back({"com.microsoft", name, infer_unary, {.in_place = mask({0})}});
  table.push_back({"com.microsoft", "FastGelu", infer_fast_gelu, {.in_place = mask({0})}});
  add_cast_ops(table);
}

}  // namespace sardonyx::ops
