#include <optional>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "ops/infer_context.h"
#include "ops/op_list.h"
#include "ops/value_arithmetic.h"

namespace sardonyx::ops {
namespace {

/// Which axes are reduced; nullopt where the axes are not known yet.
std::optional<std::vector<bool>> reduced_axes(InferContext& context, std::size_t rank) {
  const bool noop = context.attributes().get_int("noop_with_empty_axes", 0) != 0;
  std::optional<std::vector<std::int64_t>> axes = std::vector<std::int64_t>{};
  if (context.has_input(1)) axes = context.int_values(1);
  if (!axes) return std::nullopt;
  if (axes->empty()) return std::vector<bool>(rank, !noop);
  std::vector<bool> reduced(rank, false);
  for (std::int64_t axis : *axes) {
    const std::size_t i = context.axis(axis, rank);
    if (reduced[i]) fail(ErrorCode::kInvalidModel, "axis {} is given twice", axis);
    reduced[i] = true;
  }
  return reduced;
}

/// Output type where the axes are unknown: with keepdims the rank at least stays.
void set_unknown_axes(InferContext& context, bool keepdims) {
  const std::size_t rank = context.rank(0);
  const ValueType& axes = context.input(1);
  if (keepdims) return context.set_tensor(0, context.element(0), context.fresh_dims(rank, "reduced"));
  const bool counted = axes.has_rank && axes.rank() == 1 && axes.dims[0].is_constant() && axes.dims[0].constant() > 0;
  if (!counted || axes.dims[0].constant() > static_cast<std::int64_t>(rank))
    return context.set_unranked(0, context.element(0));
  context.set_tensor(0, context.element(0),
                     context.fresh_dims(rank - static_cast<std::size_t>(axes.dims[0].constant()), "reduced"));
}

/// Folds a shape vector, as ReduceProd(Shape(x)) does.
template <DimFn kFold>
void propagate_fold(InferContext& context) {
  const auto values = context.values(0);
  if (!values || values->empty() || context.rank(0) != 1 || context.element(0) != ElementType::kInt64) return;
  std::optional<Dim> total = values->front();
  for (std::size_t i = 1; i < values->size() && total; ++i) total = kFold(*total, (*values)[i]);
  if (total) context.set_values(0, {*total});
}

template <DimFn kFold>
void infer_reduce(InferContext& context) {
  const ValueType& x = context.tensor(0);
  const bool keepdims = context.attributes().get_int("keepdims", 1) != 0;
  if (!x.has_rank) return context.set_unranked(0, x.element);
  const auto reduced = reduced_axes(context, x.rank());
  if (!reduced) return set_unknown_axes(context, keepdims);
  std::vector<Dim> dims;
  bool all = true;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    all = all && (*reduced)[i];
    if (!(*reduced)[i])
      dims.push_back(x.dims[i]);
    else if (keepdims)
      dims.emplace_back(1);
  }
  context.set_tensor(0, x.element, std::move(dims));
  if (kFold != nullptr) {
    if (all) propagate_fold<kFold>(context);
  }
}

void infer_arg(InferContext& context) {
  const ValueType& x = context.tensor(0);
  if (!x.has_rank) return context.set_unranked(0, ElementType::kInt64);
  const std::size_t axis = context.axis_attribute("axis", 0, x.rank());
  if (x.dims[axis].is(0))
    fail(ErrorCode::kInvalidArgument, "axis {} of {} is empty, so it has no greatest or least element", axis,
         x.to_string());
  std::vector<Dim> dims = x.dims;
  if (context.attributes().get_int("keepdims", 1) != 0)
    dims[axis] = 1;
  else
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  context.set_tensor(0, ElementType::kInt64, std::move(dims));
}

void infer_cumulative(InferContext& context) {
  context.set_like(0, 0);
  const auto axis = context.int_values(1);
  if (!axis) return;
  context.require(axis->size() == 1, "axis must be one number, found " + context.input(1).to_string());
  if (context.has_rank(0)) context.axis(axis->front(), context.rank(0));
}

void infer_top_k(InferContext& context) {
  const ValueType& x = context.tensor(0);
  const ElementType element = x.element;
  if (!x.has_rank) {
    context.set_unranked(0, element);
    return context.set_unranked(1, ElementType::kInt64);
  }
  const std::size_t axis = context.axis_attribute("axis", -1, x.rank());
  std::vector<Dim> dims = x.dims;
  context.require_rank(1, 1);
  const auto k = context.values(1);
  if (k && k->size() != 1)
    fail(ErrorCode::kInvalidModel, "k must be one number, found {}", context.input(1).to_string());
  dims[axis] = k ? k->front() : context.fresh("k");
  if (dims[axis].is_constant() && dims[axis].constant() < 0)
    fail(ErrorCode::kInvalidArgument, "k must not be negative, found {}", dims[axis].constant());
  context.require_at_most(dims[axis], x.dims[axis], "the elements along the axis, and the greater of them and k,");
  context.set_tensor(0, element, dims);
  context.set_tensor(1, ElementType::kInt64, std::move(dims));
}

}  // namespace

void add_reduce_ops(OpTable& table) {
  const OpTraits axes{.shape_inputs = mask({1})};
  table.push_back({"", "ReduceMax", infer_reduce<dim_max>, axes});
  table.push_back({"", "ReduceMin", infer_reduce<dim_min>, axes});
  table.push_back({"", "ReduceSum", infer_reduce<dim_add>, axes});
  table.push_back({"", "ReduceProd", infer_reduce<dim_mul>, axes});
  for (const char* name :
       {"ReduceMean", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"}) {
    table.push_back({"", name, infer_reduce<nullptr>, axes});
  }
  table.push_back({"", "ArgMax", infer_arg, {}});
  table.push_back({"", "ArgMin", infer_arg, {}});
  table.push_back({"", "CumSum", infer_cumulative, {}});
  table.push_back({"", "CumProd", infer_cumulative, {}});
  table.push_back({"", "TopK", infer_top_k, {.shape_inputs = mask({1})}});
}

}  // namespace sardonyx::ops
