#include <string>

#include "ops/infer_context.h"
#include "ops/op_list.h"
#include "ops/require_type.h"
#include "ops/window.h"

namespace sardonyx::ops {
namespace {

/// The data of a pool, [batch, channels, spatial…].
std::size_t spatial_rank(InferContext& context) {
  context.require(context.rank(0) >= 3,
                  "the data must have the shape [batch, channels, spatial…], found " + context.input(0).to_string());
  return context.rank(0) - 2;
}

std::vector<Dim> pooled(InferContext& context) {
  const std::size_t spatial = spatial_rank(context);
  const WindowAttributes window = WindowAttributes::parse(context.attributes(), spatial);
  const std::vector<std::int64_t> kernel = kernel_shape(context.attributes(), spatial);
  context.require(!kernel.empty(), "attribute 'kernel_shape' is required and missing");
  std::vector<Dim> out = {context.dim(0, 0), context.dim(0, 1)};
  for (std::size_t i = 0; i < spatial; ++i) out.push_back(window.output(i, context.dim(0, i + 2), kernel[i]));
  return out;
}

void infer_pool(InferContext& context) {
  const ElementType type = context.tensor(0).element;
  if (!context.has_rank(0)) return context.set_unranked(0, type);
  context.set_tensor(0, type, pooled(context));
}

void infer_lp_pool(InferContext& context) {
  const std::int64_t p = context.attributes().get_int("p", 2);
  context.require(p > 0, "attribute 'p' must be positive, found " + std::to_string(p));
  infer_pool(context);
}

void infer_max_pool(InferContext& context) {
  const ElementType type = context.tensor(0).element;
  const std::int64_t order = context.attributes().get_int("storage_order", 0);
  context.require(order == 0 || order == 1, "attribute 'storage_order' must be 0 or 1, found " + std::to_string(order));
  if (!context.has_rank(0)) {
    context.set_unranked(0, type);
    return context.set_unranked(1, ElementType::kInt64);
  }
  const std::vector<Dim> out = pooled(context);
  context.set_tensor(0, type, out);
  context.set_tensor(1, ElementType::kInt64, out);
}

void infer_global_pool(InferContext& context) {
  const ElementType type = context.tensor(0).element;
  if (!context.has_rank(0)) return context.set_unranked(0, type);
  context.require(context.rank(0) >= 2,
                  "the data must have the shape [batch, channels, spatial…], found " + context.input(0).to_string());
  std::vector<Dim> out = context.dims(0);
  for (std::size_t i = 2; i < out.size(); ++i) out[i] = 1;
  context.set_tensor(0, type, out);
}

void infer_global_lp_pool(InferContext& context) {
  const std::int64_t p = context.attributes().get_int("p", 2);
  context.require(p > 0, "attribute 'p' must be positive, found " + std::to_string(p));
  infer_global_pool(context);
}

void infer_max_unpool(InferContext& context) {
  require_type(context, 1, ElementType::kInt64);
  const ElementType type = context.tensor(0).element;
  context.tensor(1);
  if (!context.has_rank(0)) return context.set_unranked(0, type);
  const std::size_t spatial = spatial_rank(context);
  if (context.has_rank(1)) {
    context.require_rank(1, context.rank(0));
    for (std::size_t i = 0; i < context.rank(0); ++i)
      context.same(context.dim(0, i), context.dim(1, i), "the shapes of data and indices");
  }
  if (context.has_input(2)) {
    const auto shape = context.values(2);
    if (!shape) return context.set_tensor(0, type, context.fresh_dims(context.rank(0), "unpooled"));
    context.require(shape->size() == context.rank(0),
                    "output_shape must have one element for each of the data's dimensions");
    return context.set_tensor(0, type, *shape);
  }
  const WindowAttributes window = WindowAttributes::parse(context.attributes(), spatial);
  const std::vector<std::int64_t> kernel = kernel_shape(context.attributes(), spatial);
  context.require(!kernel.empty(), "attribute 'kernel_shape' is required and missing");
  std::vector<Dim> out = {context.dim(0, 0), context.dim(0, 1)};
  for (std::size_t i = 0; i < spatial; ++i) {
    out.push_back((context.dim(0, i + 2) - 1) * window.strides[i] + kernel[i] - window.pads[i] -
                  window.pads[spatial + i]);
  }
  context.set_tensor(0, type, out);
}

/// Regions [count, width]; the output has one item for each.
void infer_regions(InferContext& context, std::int64_t width, std::int64_t out_height, std::int64_t out_width) {
  const ElementType type = context.tensor(0).element;
  context.tensor(1);
  context.require_rank(0, 4);
  context.require_rank(1, 2);
  context.require(out_height > 0 && out_width > 0, "the output's height and width must be positive");
  if (context.has_rank(1))
    context.same(context.dim(1, 1), width, "the elements of one region and what the operator takes");
  context.set_tensor(0, type,
                     {context.has_rank(1) ? context.dim(1, 0) : context.fresh("regions"),
                      context.has_rank(0) ? context.dim(0, 1) : context.fresh("channels"), out_height, out_width});
}

void infer_roi_align(InferContext& context) {
  require_type(context, 2, ElementType::kInt64);
  context.require_rank(2, 1);
  const std::string mode = context.attributes().get_string("mode", "avg");
  context.require(mode == "avg" || mode == "max",
                  "attribute 'mode' of RoiAlign must be avg or max, found '" + mode + "'");
  const std::string transform = context.attributes().get_string("coordinate_transformation_mode", "half_pixel");
  context.require(
      transform == "half_pixel" || transform == "output_half_pixel",
      "attribute 'coordinate_transformation_mode' of RoiAlign must be half_pixel or output_half_pixel, found '" +
          transform + "'");
  infer_regions(context, 4, context.attributes().get_int("output_height", 1),
                context.attributes().get_int("output_width", 1));
  if (context.has_rank(1) && context.has_rank(2))
    context.same(context.dim(1, 0), context.dim(2, 0), "the numbers of regions and batch indices");
}

void infer_max_roi_pool(InferContext& context) {
  const auto shape = context.attributes().get_ints("pooled_shape", {});
  context.require(shape.size() == 2, "attribute 'pooled_shape' must have two elements");
  infer_regions(context, 5, shape[0], shape[1]);
}

}  // namespace

void add_pool_ops(OpTable& table) {
  table.push_back({"", "MaxPool", infer_max_pool, {}});
  table.push_back({"", "AveragePool", infer_pool, {}});
  table.push_back({"", "LpPool", infer_lp_pool, {}});
  table.push_back({"", "GlobalAveragePool", infer_global_pool, {}});
  table.push_back({"", "GlobalMaxPool", infer_global_pool, {}});
  table.push_back({"", "GlobalLpPool", infer_global_lp_pool, {}});
  table.push_back({"", "MaxUnpool", infer_max_unpool, {.shape_inputs = mask({2})}});
  table.push_back({"", "RoiAlign", infer_roi_align, {}});
  table.push_back({"", "MaxRoiPool", infer_max_roi_pool, {}});
}

}  // namespace sardonyx::ops
