#include <algorithm>
#include <string>
#include <utility>

#include "base/fail.h"
#include "graph/attribute.h"
#include "ops/infer_context.h"
#include "ops/op_list.h"
#include "ops/shape_util.h"

namespace sardonyx::ops {
namespace {

void require_indices(const InferContext& context, std::size_t input) {
  const ElementType type = context.tensor(input).element;
  if (type != ElementType::kInt32 && type != ElementType::kInt64) {
    fail(ErrorCode::kInvalidModel, "input {} holds indices and must be int32 or int64, found {}", input, name(type));
  }
}

/// Elements of a vector of known values picked by known indices.
void gather_values(InferContext& context) {
  const auto values = context.values(0);
  const auto indices = context.int_values(1);
  if (!values || !indices || context.rank(0) != 1 || context.rank(1) > 1) return;
  const auto size = static_cast<std::int64_t>(values->size());
  std::vector<Dim> picked;
  for (std::int64_t index : *indices) {
    if (index < -size || index >= size)
      fail(ErrorCode::kInvalidModel, "index {} is outside a dimension of {}", index, size);
    picked.push_back((*values)[static_cast<std::size_t>(index < 0 ? index + size : index)]);
  }
  context.set_values(0, std::move(picked));
}

void infer_gather(InferContext& context) {
  const ValueType &data = context.tensor(0), &indices = context.tensor(1);
  require_indices(context, 1);
  if (!data.has_rank || !indices.has_rank) return context.set_unranked(0, data.element);
  context.require(data.rank() >= 1, "Gather needs data of rank 1 or more");
  const std::size_t axis = context.axis_attribute("axis", 0, data.rank());
  std::vector<Dim> dims(data.dims.begin(), data.dims.begin() + static_cast<std::ptrdiff_t>(axis));
  dims.insert(dims.end(), indices.dims.begin(), indices.dims.end());
  dims.insert(dims.end(), data.dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1, data.dims.end());
  context.set_tensor(0, data.element, std::move(dims));
  if (is_integer(data.element)) gather_values(context);
}

void infer_gather_elements(InferContext& context) {
  const ValueType &data = context.tensor(0), &indices = context.tensor(1);
  require_indices(context, 1);
  if (data.has_rank) {
    context.require_rank(1, data.rank());
    context.require(data.rank() >= 1, "GatherElements needs data of rank 1 or more");
    context.axis_attribute("axis", 0, data.rank());
  }
  if (!indices.has_rank) {
    return data.has_rank ? context.set_tensor(0, data.element, context.fresh_dims(data.rank(), "gather"))
                         : context.set_unranked(0, data.element);
  }
  context.set_tensor(0, data.element, indices.dims);
}

void infer_gather_nd(InferContext& context) {
  const ValueType &data = context.tensor(0), &indices = context.tensor(1);
  require_indices(context, 1);
  const std::int64_t batch = context.attributes().get_int("batch_dims", 0);
  if (!data.has_rank || !indices.has_rank) return context.set_unranked(0, data.element);
  const auto least = static_cast<std::int64_t>(std::min(data.rank(), indices.rank()));
  if (batch < 0 || batch >= least)
    fail(ErrorCode::kInvalidModel, "batch_dims is {}, but must be below the ranks, {}", batch, least);
  if (!indices.dims.back().is_constant()) return context.set_unranked(0, data.element);
  const std::int64_t depth = indices.dims.back().constant();
  if (depth < 1 || depth > static_cast<std::int64_t>(data.rank()) - batch) {
    fail(ErrorCode::kInvalidModel, "indices index {} dimensions of data {} after {} batch dimensions", depth,
         data.to_string(), batch);
  }
  std::vector<Dim> dims(indices.dims.begin(), indices.dims.end() - 1);
  for (std::size_t i = 0; i < static_cast<std::size_t>(batch); ++i)
    dims[i] = context.same(dims[i], data.dims[i], "batch dimensions");
  dims.insert(dims.end(), data.dims.begin() + batch + depth, data.dims.end());
  context.set_tensor(0, data.element, std::move(dims));
}

void infer_scatter_elements(InferContext& context) {
  const ValueType& data = context.tensor(0);
  require_indices(context, 1);
  context.require(context.tensor(2).element == data.element, "data and updates must have one element type");
  if (data.has_rank) {
    context.require(data.rank() >= 1, "ScatterElements needs data of rank 1 or more");
    context.axis_attribute("axis", 0, data.rank());
    context.require_rank(1, data.rank());
    context.require_rank(2, data.rank());
  }
  if (context.has_rank(1)) context.require_rank(2, context.rank(1));
  for (std::size_t i = 0; context.has_rank(1) && context.has_rank(2) && i < context.rank(1); ++i) {
    context.same(context.dim(1, i), context.dim(2, i), "dimensions of indices and updates");
  }
  context.set_like(0, 0);
}

void infer_scatter_nd(InferContext& context) {
  const ValueType &data = context.tensor(0), &indices = context.tensor(1), &updates = context.tensor(2);
  require_indices(context, 1);
  context.require(updates.element == data.element, "data and updates must have one element type");
  context.set_like(0, 0);
  if (!data.has_rank || !indices.has_rank) return;
  context.require(indices.rank() >= 1 && data.rank() >= 1, "ScatterND needs data and indices of rank 1 or more");
  if (!indices.dims.back().is_constant()) return;
  const std::int64_t depth = indices.dims.back().constant();
  if (depth < 0 || depth > static_cast<std::int64_t>(data.rank())) {
    fail(ErrorCode::kInvalidModel, "indices index {} dimensions of data {}", depth, data.to_string());
  }
  std::vector<Dim> wanted(indices.dims.begin(), indices.dims.end() - 1);
  wanted.insert(wanted.end(), data.dims.begin() + depth, data.dims.end());
  context.require_rank(2, wanted.size());
  if (!updates.has_rank) return;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    context.same(wanted[i], updates.dims[i], "dimension " + std::to_string(i) + " of updates");
}

void infer_tensor_scatter(InferContext& context) {
  const ValueType& cache = context.tensor(0);
  context.require(context.tensor(1).element == cache.element, "past_cache and update must have one element type");
  if (cache.has_rank) {
    const std::size_t axis = context.axis_attribute("axis", -2, cache.rank());
    context.require(axis != 0, "axis must not be the batch axis, 0");
    context.require_rank(1, cache.rank());
    for (std::size_t i = 0; context.has_rank(1) && i < cache.rank(); ++i) {
      if (i != axis) context.same(cache.dims[i], context.dim(1, i), "dimensions of past_cache and update");
    }
  }
  context.set_like(0, 0);
}

/// The depth of OneHot: an integer, or a float that holds one.
Dim one_hot_depth(InferContext& context) {
  if (auto values = context.values(1); values && values->size() == 1) return (*values)[0];
  if (auto floats = context.float_values(1); floats && floats->size() == 1) {
    if (!((*floats)[0] >= 0 && (*floats)[0] < 1e9F))
      fail(ErrorCode::kInvalidModel, "depth must not be negative, found {}", (*floats)[0]);
    return static_cast<std::int64_t>((*floats)[0]);
  }
  return context.fresh("depth");
}

void infer_one_hot(InferContext& context) {
  const ValueType &indices = context.tensor(0), &values = context.tensor(2);
  context.tensor(1);
  const Dim depth = one_hot_depth(context);
  if (depth.is_constant() && depth.constant() < 0)
    fail(ErrorCode::kInvalidModel, "depth must not be negative, found {}", depth.constant());
  if (!indices.has_rank) return context.set_unranked(0, values.element);
  const std::size_t axis = context.axis_attribute("axis", -1, indices.rank() + 1);
  std::vector<Dim> dims = indices.dims;
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), depth);
  context.set_tensor(0, values.element, std::move(dims));
}

void infer_non_zero(InferContext& context) {
  const ValueType& data = context.tensor(0);
  const Dim rank = data.has_rank ? Dim(static_cast<std::int64_t>(data.rank())) : context.fresh("rank");
  context.set_tensor(0, ElementType::kInt64, {rank, context.fresh("nonzero")});
}

void infer_compress(InferContext& context) {
  const ValueType& data = context.tensor(0);
  context.require_rank(1, 1);
  if (!context.attributes().has("axis")) return context.set_tensor(0, data.element, {context.fresh("compress")});
  if (!data.has_rank) return context.set_unranked(0, data.element);
  std::vector<Dim> dims = data.dims;
  dims[context.axis_attribute("axis", 0, data.rank())] = context.fresh("compress");
  context.set_tensor(0, data.element, std::move(dims));
}

void infer_unique(InferContext& context) {
  const ValueType& data = context.tensor(0);
  const Dim count = context.fresh("unique");
  context.set_tensor(1, ElementType::kInt64, {count});
  context.set_tensor(3, ElementType::kInt64, {count});
  if (!context.attributes().has("axis")) {
    context.set_tensor(0, data.element, {count});
    return context.set_tensor(2, ElementType::kInt64, {data.has_rank ? product(data.dims) : context.fresh("elements")});
  }
  if (!data.has_rank) {
    context.set_unranked(0, data.element);
    return context.set_tensor(2, ElementType::kInt64, {context.fresh("elements")});
  }
  const std::size_t axis = context.axis_attribute("axis", 0, data.rank());
  std::vector<Dim> dims = data.dims;
  context.set_tensor(2, ElementType::kInt64, {dims[axis]});
  dims[axis] = count;
  context.set_tensor(0, data.element, std::move(dims));
}

}  // namespace

void add_gather_ops(OpTable& table) {
  table.push_back({"", "Gather", infer_gather, {.moved_inputs = mask({0})}});
  table.push_back({"", "GatherElements", infer_gather_elements, {}});
  table.push_back({"", "GatherND", infer_gather_nd, {}});
  table.push_back({"", "ScatterElements", infer_scatter_elements, {.in_place = mask({0})}});
  table.push_back({"", "ScatterND", infer_scatter_nd, {.in_place = mask({0})}});
  table.push_back({"", "TensorScatter", infer_tensor_scatter, {.in_place = mask({0})}});
  table.push_back({"", "OneHot", infer_one_hot, {.shape_inputs = mask({1})}});
  table.push_back({"", "NonZero", infer_non_zero, {.data_dependent = true}});
  table.push_back({"", "Compress", infer_compress, {.data_dependent = true}});
  table.push_back({"", "Unique", infer_unique, {.data_dependent = true}});
}

}  // namespace sardonyx::ops
