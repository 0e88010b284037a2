#include <string>

#include "ops/infer_context.h"
#include "ops/op_list.h"

namespace sardonyx::ops {
namespace {

void require_float(InferContext& context, std::size_t i) {
  const ElementType type = context.tensor(i).element;
  context.require(is_floating_point(type),
                  "input " + std::to_string(i) + " must be of a floating-point type, found " + std::string(name(type)));
}

/// Softmax and its kin: an axis, and the input's shape.
void infer_along_axis(InferContext& context) {
  require_float(context, 0);
  if (context.has_rank(0)) context.axis_attribute("axis", -1, context.rank(0));
  context.set_like(0, 0);
}

/// The element type that `stash_type` names.
ElementType stash_type(const InferContext& context) {
  const std::int64_t stash = context.attributes().get_int("stash_type", 1);
  context.require(is_element_type(stash) && is_floating_point(static_cast<ElementType>(stash)),
                  "attribute 'stash_type' must name a floating-point type, found " + std::to_string(stash));
  return static_cast<ElementType>(stash);
}

/// `parameter` must broadcast to the data without changing its shape.
void require_broadcastable_to_data(InferContext& context, std::size_t parameter) {
  if (!context.has_input(parameter) || !context.has_rank(0) || !context.has_rank(parameter)) return;
  const std::size_t rank = context.rank(0), own = context.rank(parameter);
  context.require(own <= rank, "input " + std::to_string(parameter) + " has rank " + std::to_string(own) +
                                   ", more than the data's rank " + std::to_string(rank));
  for (std::size_t i = 0; i < own; ++i) {
    context.require_broadcasts_to(context.dim(parameter, i), context.dim(0, rank - own + i),
                                  "dimensions of input " + std::to_string(parameter) + " and the data");
  }
}

void infer_layer_normalization(InferContext& context) {
  require_float(context, 0);
  require_float(context, 1);
  const ElementType stash = stash_type(context);
  require_broadcastable_to_data(context, 1);
  require_broadcastable_to_data(context, 2);
  context.set_like(0, 0);
  if (!context.has_rank(0)) {
    context.set_unranked(1, stash);
    context.set_unranked(2, stash);
    return;
  }
  std::vector<Dim> reduced = context.dims(0);
  for (std::size_t i = context.axis_attribute("axis", -1, context.rank(0)); i < reduced.size(); ++i) reduced[i] = 1;
  context.set_tensor(1, stash, reduced);
  context.set_tensor(2, stash, reduced);
}

void infer_rms_normalization(InferContext& context) {
  require_float(context, 0);
  require_float(context, 1);
  stash_type(context);
  require_broadcastable_to_data(context, 1);
  if (context.has_rank(0)) context.axis_attribute("axis", -1, context.rank(0));
  context.set_like(0, 0, context.element(1));
}

/// The channel count of data [N, C, …]; 1 for data of rank 1.
Dim channels(const InferContext& context) { return context.rank(0) > 1 ? context.dim(0, 1) : Dim(1); }

/// Input i must be [C]; returns the better known count.
Dim per_channel(InferContext& context, std::size_t i, const Dim& count) {
  context.tensor(i);
  context.require_rank(i, 1);
  if (!context.has_rank(i)) return count;
  return context.same(count, context.dim(i, 0), "the number of channels and the length of input " + std::to_string(i));
}

void infer_batch_normalization(InferContext& context) {
  for (std::size_t i = 0; i < 5; ++i) require_float(context, i);
  context.set_like(0, 0);
  if (!context.has_rank(0)) {
    context.set_unranked(1, context.element(3));
    context.set_unranked(2, context.element(4));
    return;
  }
  context.require(context.rank(0) >= 1, "the data of BatchNormalization must have a channel axis");
  Dim count = channels(context);
  for (std::size_t i = 1; i < 5; ++i) count = per_channel(context, i, count);
  context.set_tensor(1, context.element(3), {count});
  context.set_tensor(2, context.element(4), {count});
}

/// InstanceNormalization and GroupNormalization: data [N, C, …], scale [C], bias [C].
void infer_instance_normalization(InferContext& context) {
  require_float(context, 0);
  context.set_like(0, 0);
  if (!context.has_rank(0)) return;
  context.require(context.rank(0) >= 2,
                  "the data must have the shape [batch, channels, …], found " + context.input(0).to_string());
  const Dim count = per_channel(context, 1, channels(context));
  per_channel(context, 2, count);
}

void infer_group_normalization(InferContext& context) {
  infer_instance_normalization(context);
  const std::int64_t groups = context.attributes().get_int("num_groups");
  context.require(groups > 0, "attribute 'num_groups' must be positive, found " + std::to_string(groups));
  if (!context.has_rank(0)) return;
  context.require_multiple(context.dim(0, 1), groups,
                           "the channels, and the nearest multiple of attribute 'num_groups' below,");
}

void infer_lp_normalization(InferContext& context) {
  const std::int64_t p = context.attributes().get_int("p", 2);
  context.require(p == 1 || p == 2, "attribute 'p' of LpNormalization must be 1 or 2, found " + std::to_string(p));
  infer_along_axis(context);
}

void infer_mean_variance_normalization(InferContext& context) {
  require_float(context, 0);
  if (context.has_rank(0)) {
    for (std::int64_t axis : context.attributes().get_ints("axes", {0, 2, 3})) context.axis(axis, context.rank(0));
  }
  context.set_like(0, 0);
}

void infer_lrn(InferContext& context) {
  require_float(context, 0);
  const std::int64_t size = context.attributes().get_int("size");
  context.require(size > 0, "attribute 'size' of LRN must be positive, found " + std::to_string(size));
  context.require(!context.has_rank(0) || context.rank(0) >= 2,
                  "the data of LRN must have the shape [batch, channels, …]");
  context.set_like(0, 0);
}

void infer_dropout(InferContext& context) {
  require_float(context, 0);
  context.set_like(0, 0);
  context.set_like(1, 0, ElementType::kBool);
}

}  // namespace

void add_norm_ops(OpTable& table) {
  const OpTraits in_place{.in_place = mask({0})};
  table.push_back({"", "Softmax", infer_along_axis, in_place});
  table.push_back({"", "LogSoftmax", infer_along_axis, in_place});
  table.push_back({"", "Hardmax", infer_along_axis, in_place});
  table.push_back({"", "LayerNormalization", infer_layer_normalization, in_place});
  table.push_back({"", "RMSNormalization", infer_rms_normalization, in_place});
  table.push_back({"", "BatchNormalization", infer_batch_normalization, in_place});
  table.push_back({"", "InstanceNormalization", infer_instance_normalization, {}});
  table.push_back({"", "GroupNormalization", infer_group_normalization, {}});
  table.push_back({"", "LpNormalization", infer_lp_normalization, in_place});
  table.push_back({"", "MeanVarianceNormalization", infer_mean_variance_normalization, {}});
  table.push_back({"", "LRN", infer_lrn, {}});
  table.push_back({"", "Dropout", infer_dropout, {.in_place = mask({0}), .nondeterministic = true}});
}

}  // namespace sardonyx::ops
