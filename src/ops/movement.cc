#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "base/fail.h"
#include "graph/attribute.h"
#include "ops/infer_context.h"
#include "ops/op_list.h"
#include "ops/shape_util.h"

namespace sardonyx::ops {
namespace {

void infer_transpose(InferContext& context) {
  const ValueType& data = context.tensor(0);
  const auto* perm = context.attributes().ints("perm");
  if (!data.has_rank && !perm) return context.set_unranked(0, data.element);
  if (!data.has_rank) return context.set_tensor(0, data.element, context.fresh_dims(perm->size(), "transpose"));
  const std::size_t rank = data.rank();
  std::vector<Dim> dims(data.dims.rbegin(), data.dims.rend());
  if (perm) {
    if (perm->size() != rank)
      fail(ErrorCode::kInvalidModel, "perm has {} axes, but the data has rank {}", perm->size(), rank);
    std::vector<bool> used(rank, false);
    for (std::size_t i = 0; i < rank; ++i) {
      const std::size_t from = context.axis((*perm)[i], rank);
      if (used[from]) fail(ErrorCode::kInvalidModel, "perm names axis {} twice", from);
      used[from] = true;
      dims[i] = data.dims[from];
    }
  }
  context.set_tensor(0, data.element, std::move(dims));
}

/// Values of a concatenation of vectors, where all are known.
void concat_values(InferContext& context) {
  std::vector<Dim> all;
  for (std::size_t i = 0; i < context.num_inputs(); ++i) {
    const auto values = context.values(i);
    if (!values) return;
    all.insert(all.end(), values->begin(), values->end());
  }
  context.set_values(0, std::move(all));
}

void infer_concat(InferContext& context) {
  context.require(context.num_inputs() > 0, "Concat needs at least one input");
  const ElementType element = context.tensor(0).element;
  std::size_t ranked = context.num_inputs();
  for (std::size_t i = 0; i < context.num_inputs(); ++i) {
    context.require(context.tensor(i).element == element, "all inputs must have one element type, found " +
                                                              context.input(0).to_string() + " and " +
                                                              context.input(i).to_string());
    if (context.has_rank(i) && ranked == context.num_inputs()) ranked = i;
  }
  if (ranked == context.num_inputs()) return context.set_unranked(0, element);
  const std::size_t rank = context.rank(ranked);
  const std::size_t axis = context.axis(context.attributes().get_int("axis"), rank);
  std::vector<Dim> dims = context.dims(ranked);
  Dim total(0);
  for (std::size_t i = 0; i < context.num_inputs(); ++i) {
    context.require_rank(i, rank);
    total = total + (context.has_rank(i) ? context.dim(i, axis) : context.fresh("concat"));
    for (std::size_t d = 0; context.has_rank(i) && d < rank; ++d) {
      if (d != axis)
        dims[d] = context.same(dims[d], context.dim(i, d), "dimension " + std::to_string(d) + " of the inputs");
    }
  }
  dims[axis] = total;
  context.set_tensor(0, element, std::move(dims));
  if (rank == 1 && is_integer(element)) concat_values(context);
}

/// Sizes of `count` near-equal parts: ceil(total / count) each, as long as there is something left.
std::vector<Dim> equal_parts(const Dim& total, std::size_t count) {
  const Dim chunk = ceil_div(total, Dim(static_cast<std::int64_t>(count)));
  std::vector<Dim> parts(count, chunk);
  for (std::size_t i = 1; i < count; ++i) {
    const Dim left = total - chunk * Dim(static_cast<std::int64_t>(i));
    parts[i] = max(i + 1 < count ? min(chunk, left) : left, 0);  // what is left for the last never exceeds a chunk
  }
  return parts;
}

std::vector<Dim> split_sizes(InferContext& context, const Dim& total) {
  const std::size_t count = context.num_outputs();
  if (!context.has_input(1)) {
    const std::int64_t wanted = context.attributes().get_int("num_outputs", static_cast<std::int64_t>(count));
    if (wanted != static_cast<std::int64_t>(count))
      fail(ErrorCode::kInvalidModel, "num_outputs is {}, but the node has {} outputs", wanted, count);
    return equal_parts(total, count);
  }
  const auto sizes = context.values(1);
  if (!sizes) return context.fresh_dims(count, "split");
  if (sizes->size() != count)
    fail(ErrorCode::kInvalidModel, "split has {} sizes, but the node has {} outputs", sizes->size(), count);
  Dim sum(0);
  for (const Dim& size : *sizes) {
    if (size.is_constant() && size.constant() < 0)
      fail(ErrorCode::kInvalidModel, "split has a size of {}", size.constant());
    sum = sum + size;
  }
  context.same(sum, total, "the sum of split and the dimension that is split");
  return *sizes;
}

void infer_split(InferContext& context) {
  const ValueType& data = context.tensor(0);
  if (!data.has_rank) {
    for (std::size_t i = 0; i < context.num_outputs(); ++i) context.set_unranked(i, data.element);
    return;
  }
  const std::size_t axis = context.axis_attribute("axis", 0, data.rank());
  const std::vector<Dim> sizes = split_sizes(context, data.dims[axis]);
  const auto values = data.rank() == 1 && is_integer(data.element) ? context.values(0) : std::nullopt;
  std::size_t offset = 0;
  bool offset_known = values.has_value();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    std::vector<Dim> dims = data.dims;
    dims[axis] = sizes[i];
    context.set_tensor(i, data.element, std::move(dims));
    offset_known = offset_known && sizes[i].is_constant();
    if (!offset_known) continue;
    const auto length = static_cast<std::size_t>(sizes[i].constant());
    if (offset + length > values->size()) continue;
    const auto begin = values->begin() + static_cast<std::ptrdiff_t>(offset);
    context.set_values(i, {begin, begin + static_cast<std::ptrdiff_t>(length)});
    offset += length;
  }
}

// Bounds at or beyond these mean "to the end", as exporters write them.
constexpr std::int64_t kFarRight = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kFarLeft = -kFarRight;

/// A bound of Slice as an index from 0, clamped to [low, high] where high is `size` plus a constant; nullopt where the
/// sign of the bound is not known.
std::optional<Dim> slice_bound(const Dim& bound, const Dim& size, const Dim& low, const Dim& high) {
  if (bound.is_constant()) {
    const std::int64_t value = bound.constant();
    if (!size.is_constant() && value >= kFarRight) return high;
    if (value == -1 && high == size + bound) return high;
    if (value <= kFarLeft && !(size.is_constant() && value > -size.constant())) return low;
    return max(min(value < 0 ? size + bound : bound, high), low);
  }
  if (!bound.is_never_negative()) return std::nullopt;
  return max(min(bound, high), low);
}

/// The first index and the number of elements that a slice of one axis takes.
struct AxisSlice {
  std::optional<Dim> start;
  Dim length;
};

AxisSlice slice_axis(InferContext& context, const Dim& size, const Dim& start, const Dim& end, std::int64_t step) {
  if (step == 0) fail(ErrorCode::kInvalidModel, "a step of 0 in Slice");
  if (size.is(0)) return {Dim(0), 0};
  const bool forward = step > 0;
  const Dim last = size - Dim(1);
  const auto from = forward ? slice_bound(start, size, 0, size)
                            : slice_bound(start, size, min(0, last), last);  // -1 where there is no element
  const auto to = forward ? slice_bound(end, size, 0, size) : slice_bound(end, size, -1, last);
  if (!from || !to) return {std::nullopt, context.fresh("slice")};
  if (step == std::numeric_limits<std::int64_t>::min()) step = -std::numeric_limits<std::int64_t>::max();
  const Dim distance = forward ? *to - *from : *from - *to;
  return {from, max(ceil_div(distance, Dim(forward ? step : -step)), 0)};
}

/// The values of a slice of a vector of known values.
void slice_values(InferContext& context, const AxisSlice& slice, std::int64_t step) {
  const auto values = context.values(0);
  if (!values || !slice.start || !slice.start->is_constant() || !slice.length.is_constant()) return;
  std::vector<Dim> out;
  for (std::int64_t i = 0; i < slice.length.constant(); ++i) {
    out.push_back((*values)[static_cast<std::size_t>(slice.start->constant() + i * step)]);
  }
  context.set_values(0, std::move(out));
}

void infer_slice(InferContext& context) {
  const ValueType& data = context.tensor(0);
  if (!data.has_rank) return context.set_unranked(0, data.element);
  const auto starts = context.values(1), ends = context.values(2);
  const auto count = starts ? std::optional(starts->size())
                     : ends ? std::optional(ends->size())
                            : known_length(context, 1);
  std::optional<std::vector<std::size_t>> axes;
  if (context.has_input(3)) {
    axes = axes_input(context, 3, data.rank());
  } else if (count) {
    if (*count > data.rank())
      fail(ErrorCode::kInvalidModel, "Slice names {} axes of data of rank {}", *count, data.rank());
    axes.emplace();
    for (std::size_t i = 0; i < *count; ++i) axes->push_back(i);
  }
  if (!axes) return context.set_tensor(0, data.element, context.fresh_dims(data.rank(), "slice"));
  const auto steps = context.has_input(4) ? context.int_values(4) : std::vector<std::int64_t>(axes->size(), 1);
  std::vector<Dim> dims = data.dims;
  const bool known = starts && ends && steps;
  if (known && (starts->size() != axes->size() || ends->size() != axes->size() || steps->size() != axes->size())) {
    fail(ErrorCode::kInvalidModel, "starts, ends, axes and steps must be of one length, found {}, {}, {} and {}",
         starts->size(), ends->size(), axes->size(), steps->size());
  }
  AxisSlice slice{Dim(0), Dim(0)};
  for (std::size_t i = 0; i < axes->size(); ++i) {
    slice = known ? slice_axis(context, dims[(*axes)[i]], (*starts)[i], (*ends)[i], (*steps)[i])
                  : AxisSlice{std::nullopt, context.fresh("slice")};
    dims[(*axes)[i]] = slice.length;
  }
  context.set_tensor(0, data.element, std::move(dims));
  if (known && data.rank() == 1 && axes->size() == 1 && is_integer(data.element))
    slice_values(context, slice, (*steps)[0]);
}

void infer_pad(InferContext& context) {
  const ValueType& data = context.tensor(0);
  if (!data.has_rank) return context.set_unranked(0, data.element);
  const auto pads = context.values(1);
  std::optional<std::vector<std::size_t>> axes;
  if (context.has_input(3)) {
    axes = axes_input(context, 3, data.rank());
  } else {
    axes.emplace();
    for (std::size_t i = 0; i < data.rank(); ++i) axes->push_back(i);
  }
  if (!axes) return context.set_tensor(0, data.element, context.fresh_dims(data.rank(), "pad"));
  std::vector<Dim> dims = data.dims;
  if (pads && pads->size() != 2 * axes->size()) {
    fail(ErrorCode::kInvalidModel, "pads must have two numbers for each of {} axes, found {}", axes->size(),
         pads->size());
  }
  for (std::size_t i = 0; i < axes->size(); ++i) {
    Dim& dim = dims[(*axes)[i]];
    dim = pads ? dim + (*pads)[i] + (*pads)[i + axes->size()] : context.fresh("pad");
    if (dim.is_constant() && dim.constant() < 0)
      fail(ErrorCode::kInvalidModel, "padding leaves a dimension of {}", dim.constant());
  }
  context.set_tensor(0, data.element, std::move(dims));
}

void infer_tile(InferContext& context) {
  const ValueType& data = context.tensor(0);
  const auto repeats = context.values(1);
  if (!data.has_rank) {
    const auto rank = known_length(context, 1);
    return rank ? context.set_tensor(0, data.element, context.fresh_dims(*rank, "tile"))
                : context.set_unranked(0, data.element);
  }
  if (!repeats) return context.set_tensor(0, data.element, context.fresh_dims(data.rank(), "tile"));
  if (repeats->size() != data.rank()) {
    fail(ErrorCode::kInvalidModel, "repeats has {} numbers, but the data has rank {}", repeats->size(), data.rank());
  }
  std::vector<Dim> dims;
  for (std::size_t i = 0; i < data.rank(); ++i) {
    const Dim& repeat = (*repeats)[i];
    if (repeat.is_constant() && repeat.constant() < 0)
      fail(ErrorCode::kInvalidModel, "repeats has {}", repeat.constant());
    dims.push_back(data.dims[i] * repeat);
  }
  context.set_tensor(0, data.element, std::move(dims));
}

void infer_trilu(InferContext& context) {
  const ValueType& data = context.tensor(0);
  if (data.has_rank && data.rank() < 2)
    fail(ErrorCode::kInvalidModel, "Trilu needs rank 2 or more, found {}", data.to_string());
  context.set_like(0, 0);
}

std::int64_t block_size(const InferContext& context) {
  const std::int64_t block = context.attributes().get_int("blocksize");
  if (block < 1 || block > 1'000'000) fail(ErrorCode::kInvalidModel, "blocksize must be positive, found {}", block);
  return block;
}

void infer_depth_to_space(InferContext& context) {
  const ValueType& data = context.tensor(0);
  const std::string mode = context.attributes().get_string("mode", "DCR");
  context.require(mode == "DCR" || mode == "CRD", "attribute 'mode' must be DCR or CRD, found " + mode);
  context.require_rank(0, 4);
  const Dim block = block_size(context);
  if (!data.has_rank) return context.set_tensor(0, data.element, context.fresh_dims(4, "space"));
  const Dim channels = floor_div(data.dims[1], block * block);
  context.same(channels * block * block, data.dims[1], "the channels and a multiple of blocksize squared");
  context.set_tensor(0, data.element, {data.dims[0], channels, data.dims[2] * block, data.dims[3] * block});
}

void infer_space_to_depth(InferContext& context) {
  const ValueType& data = context.tensor(0);
  context.require_rank(0, 4);
  const Dim block = block_size(context);
  if (!data.has_rank) return context.set_tensor(0, data.element, context.fresh_dims(4, "depth"));
  const Dim height = floor_div(data.dims[2], block), width = floor_div(data.dims[3], block);
  context.same(height * block, data.dims[2], "the height and a multiple of blocksize");
  context.same(width * block, data.dims[3], "the width and a multiple of blocksize");
  context.set_tensor(0, data.element, {data.dims[0], data.dims[1] * block * block, height, width});
}

void infer_reverse_sequence(InferContext& context) {
  const ValueType& data = context.tensor(0);
  context.require_rank(1, 1);
  const std::int64_t time = context.attributes().get_int("time_axis", 0),
                     batch = context.attributes().get_int("batch_axis", 1);
  context.require((time == 0 && batch == 1) || (time == 1 && batch == 0),
                  "time_axis and batch_axis must be 0 and 1 or 1 and 0");
  if (data.has_rank) {
    if (data.rank() < 2)
      fail(ErrorCode::kInvalidModel, "ReverseSequence needs rank 2 or more, found {}", data.to_string());
    if (context.has_rank(1))
      context.same(context.dim(1, 0), data.dims[static_cast<std::size_t>(batch)], "sequence_lens and the batch");
  }
  context.set_like(0, 0);
}

void infer_center_crop_pad(InferContext& context) {
  const ValueType& data = context.tensor(0);
  if (!data.has_rank) return context.set_unranked(0, data.element);
  std::vector<std::int64_t> all;
  for (std::size_t i = 0; i < data.rank(); ++i) all.push_back(static_cast<std::int64_t>(i));
  const std::vector<std::int64_t> axes = context.attributes().get_ints("axes", std::move(all));
  const auto shape = context.values(1);
  if (shape && shape->size() != axes.size()) {
    fail(ErrorCode::kInvalidModel, "shape has {} numbers for {} axes", shape->size(), axes.size());
  }
  std::vector<Dim> dims = data.dims;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const Dim wanted = shape ? (*shape)[i] : context.fresh("crop");
    if (wanted.is_constant() && wanted.constant() < 0)
      fail(ErrorCode::kInvalidModel, "shape has {}", wanted.constant());
    dims[context.axis(axes[i], data.rank())] = wanted;
  }
  context.set_tensor(0, data.element, std::move(dims));
}

}  // namespace

void add_movement_ops(OpTable& table) {
  table.push_back({"", "Transpose", infer_transpose, {}});
  table.push_back({"", "Concat", infer_concat, {}});
  table.push_back({"", "Split", infer_split, {.shape_inputs = mask({1})}});
  table.push_back({"", "Slice", infer_slice, {.shape_inputs = mask({1, 2, 3, 4})}});
  table.push_back({"", "Pad", infer_pad, {.shape_inputs = mask({1, 3})}});
  table.push_back({"", "Tile", infer_tile, {.shape_inputs = mask({1})}});
  table.push_back({"", "Trilu", infer_trilu, {.in_place = mask({0})}});
  table.push_back({"", "DepthToSpace", infer_depth_to_space, {}});
  table.push_back({"", "SpaceToDepth", infer_space_to_depth, {}});
  table.push_back({"", "ReverseSequence", infer_reverse_sequence, {}});
  table.push_back({"", "CenterCropPad", infer_center_crop_pad, {.shape_inputs = mask({1})}});
}

}  // namespace sardonyx::ops
