#include <algorithm>
#include <cmath>
#include <string>

#include "ops/infer_context.h"
#include "ops/op_list.h"
#include "ops/require_type.h"
#include "ops/resize.h"

namespace sardonyx::ops {
namespace {

void infer_resize(InferContext& context) {
  const ElementType type = context.tensor(0).element;
  if (!context.has_rank(0)) return context.set_unranked(0, type);
  const ResizeAttributes attributes = ResizeAttributes::parse(context.attributes(), context.rank(0));
  const auto given = [&](std::size_t i) {
    if (!context.has_input(i)) return false;
    context.require_rank(i, 1);
    return !(context.has_rank(i) && context.dim(i, 0).is(0));
  };
  const bool has_scales = given(2), has_sizes = given(3);
  context.require(has_scales != has_sizes, "exactly one of 'scales' and 'sizes' must be given");
  std::vector<Dim> out = context.dims(0);
  for (std::size_t axis : attributes.axes) out[axis] = context.fresh("resized");
  const std::size_t source = has_scales ? 2 : 3;
  if (context.has_rank(source) && context.dim(source, 0).is_constant()) {
    context.require(context.dim(source, 0).constant() == static_cast<std::int64_t>(attributes.axes.size()),
                    "'scales' or 'sizes' must have one element for each of the " +
                        std::to_string(attributes.axes.size()) + " axes");
  }
  if (has_scales) {
    if (const auto scales = context.float_values(2)) {
      for (std::size_t i = 0; i < scales->size(); ++i) {
        context.require((*scales)[i] > 0 && std::isfinite((*scales)[i]), "the elements of 'scales' must be positive");
        out[attributes.axes[i]] = graph::scale(context.dim(0, attributes.axes[i]), static_cast<double>((*scales)[i]));
      }
    }
  } else if (attributes.policy == ResizeAttributes::Policy::kStretch) {
    if (const auto sizes = context.values(3)) {
      for (std::size_t i = 0; i < sizes->size(); ++i) out[attributes.axes[i]] = (*sizes)[i];
    }
  } else if (const auto sizes = context.int_values(3)) {
    std::vector<std::int64_t> in;
    for (std::size_t axis : attributes.axes) {
      if (context.dim(0, axis).is_constant()) in.push_back(context.dim(0, axis).constant());
    }
    if (in.size() == sizes->size()) {
      const double scale = attributes.common_scale(in, *sizes);
      for (std::size_t i = 0; i < in.size(); ++i) out[attributes.axes[i]] = ResizeAttributes::rounded(scale, in[i]);
    }
  }
  context.set_tensor(0, type, out);
}

void infer_grid_sample(InferContext& context) {
  const ElementType type = context.tensor(0).element;
  context.tensor(1);
  if (!context.has_rank(0) && !context.has_rank(1)) return context.set_unranked(0, type);
  const std::size_t rank = context.has_rank(0) ? context.rank(0) : context.rank(1);
  context.require(rank >= 3, "the data of GridSample must have the shape [batch, channels, spatial…]");
  context.require_rank(1, rank);
  std::vector<Dim> out = context.fresh_dims(rank, "sampled");
  if (context.has_rank(0)) {
    out[0] = context.dim(0, 0);
    out[1] = context.dim(0, 1);
  }
  if (context.has_rank(1)) {
    if (context.has_rank(0)) out[0] = context.same(out[0], context.dim(1, 0), "the batch sizes of data and grid");
    context.same(context.dim(1, rank - 1), static_cast<std::int64_t>(rank) - 2,
                 "the grid's last dimension and the number of spatial axes");
    for (std::size_t i = 2; i < rank; ++i) out[i] = context.dim(1, i - 1);
  }
  context.set_tensor(0, type, out);
}

void infer_affine_grid(InferContext& context) {
  const ElementType type = context.tensor(0).element;
  context.require_rank(0, 3);
  context.require_rank(1, 1);
  const auto size = context.values(1);
  const bool counted = context.has_rank(1) && context.dim(1, 0).is_constant();
  if (!size && !counted) return context.set_unranked(0, type);
  const std::size_t rank = size ? size->size() : static_cast<std::size_t>(context.dim(1, 0).constant());
  context.require(rank == 4 || rank == 5,
                  "'size' of AffineGrid must have 4 or 5 elements, found " + std::to_string(rank));
  const auto spatial = static_cast<std::int64_t>(rank) - 2;
  std::vector<Dim> out = {size ? (*size)[0] : context.fresh("batch")};
  if (context.has_rank(0)) {
    out[0] = context.same(out[0], context.dim(0, 0), "the batch sizes of theta and size");
    context.same(context.dim(0, 1), spatial, "dimension 1 of theta and the number of spatial axes");
    context.same(context.dim(0, 2), spatial + 1, "dimension 2 of theta and the number of spatial axes plus 1");
  }
  for (std::size_t i = 2; i < rank; ++i) out.push_back(size ? (*size)[i] : context.fresh("grid"));
  out.emplace_back(spatial);
  context.set_tensor(0, type, out);
}

void infer_non_max_suppression(InferContext& context) {
  require_type(context, 2, ElementType::kInt64);
  for (std::size_t i : {3, 4}) require_type(context, i, ElementType::kFloat32);
  for (std::size_t i : {0, 1}) {
    context.tensor(i);
    context.require_rank(i, 3);
  }
  if (context.has_rank(0)) {
    context.same(context.dim(0, 2), 4, "the last dimension of boxes, which must be 4, and 4");
    if (context.has_rank(1)) {
      context.same(context.dim(0, 0), context.dim(1, 0), "the batch sizes of boxes and scores");
      context.same(context.dim(0, 1), context.dim(1, 2), "the numbers of boxes and of scores");
    }
  }
  context.set_tensor(0, ElementType::kInt64, {context.fresh("selected"), 3});
}

void infer_image_decoder(InferContext& context) {
  context.require(context.tensor(0).element == ElementType::kUInt8, "the encoded image must be a tensor of uint8");
  context.require_rank(0, 1);
  const std::string format = context.attributes().get_string("pixel_format", "RGB");
  context.require(format == "RGB" || format == "BGR" || format == "Grayscale",
                  "attribute 'pixel_format' must be RGB, BGR or Grayscale, found '" + format + "'");
  context.set_tensor(0, ElementType::kUInt8,
                     {context.fresh("height"), context.fresh("width"), format == "Grayscale" ? 1 : 3});
}

}  // namespace

void add_image_ops(OpTable& table) {
  table.push_back({"", "Resize", infer_resize, {.shape_inputs = mask({2, 3})}});
  table.push_back({"", "GridSample", infer_grid_sample, {}});
  table.push_back({"", "AffineGrid", infer_affine_grid, {.shape_inputs = mask({1})}});
  table.push_back({"", "NonMaxSuppression", infer_non_max_suppression, {.data_dependent = true}});
  table.push_back({"", "ImageDecoder", infer_image_decoder, {.data_dependent = true}});
}

}  // namespace sardonyx::ops
