#include <string>

#include "ops/families.h"
#include "ops/infer_context.h"
#include "ops/op_list.h"
#include "ops/require_type.h"
#include "ops/window.h"

namespace sardonyx::ops {
namespace {

constexpr std::size_t kNoInput = static_cast<std::size_t>(-1);

/// Which inputs of an operator are a convolution's data, weights and bias.
struct ConvInputs {
  std::size_t x = 0, w = 1, bias = kNoInput;
};

std::int64_t positive_attribute(const InferContext& context, const char* name) {
  const std::int64_t value = context.attributes().get_int(name, 1);
  context.require(value > 0, std::string("attribute '") + name + "' must be positive, found " + std::to_string(value));
  return value;
}

/// The data's spatial rank, having checked that data and weights agree in rank.
std::size_t spatial_rank(InferContext& context, const ConvInputs& in) {
  const std::size_t rank = context.rank(in.x);
  context.require(rank >= 3,
                  "the data must have the shape [batch, channels, spatial…], found " + context.input(in.x).to_string());
  context.require_rank(in.w, rank);
  return rank - 2;
}

/// The weights' spatial dimensions: from their shape, else from `kernel_shape`, else unknown.
std::vector<Dim> kernel_dims(InferContext& context, const ConvInputs& in, std::size_t spatial) {
  std::vector<Dim> dims;
  const std::vector<std::int64_t> given = kernel_shape(context.attributes(), spatial);
  for (std::size_t i = 0; i < spatial; ++i) {
    const bool known = context.has_rank(in.w);
    if (known && !given.empty()) {
      dims.push_back(context.same(given[i], context.dim(in.w, i + 2),
                                  "kernel_shape and the weights' shape along spatial axis " + std::to_string(i)));
    } else if (known) {
      dims.push_back(context.dim(in.w, i + 2));
    } else {
      dims.push_back(given.empty() ? context.fresh("kernel") : Dim(given[i]));
    }
  }
  return dims;
}

void check_bias(InferContext& context, const ConvInputs& in, const Dim& channels) {
  if (in.bias == kNoInput || !context.has_input(in.bias)) return;
  context.require_rank(in.bias, 1);
  if (context.has_rank(in.bias))
    context.same(channels, context.dim(in.bias, 0), "the output channels and the bias's length");
}

/// Output [N, M, windows…] of data [N, C, …] and weights [M, C / group, kernel…].
std::vector<Dim> convolved(InferContext& context, const ConvInputs& in) {
  const std::size_t spatial = spatial_rank(context, in);
  const std::int64_t group = positive_attribute(context, "group");
  const WindowAttributes window = WindowAttributes::parse(context.attributes(), spatial);
  const std::vector<Dim> kernel = kernel_dims(context, in, spatial);
  std::vector<Dim> out = {context.dim(in.x, 0),
                          context.has_rank(in.w) ? context.dim(in.w, 0) : context.fresh("channels")};
  if (context.has_rank(in.w)) {
    context.same(context.dim(in.x, 1), context.dim(in.w, 1) * group,
                 "the data's channels and group times the weights' dimension 1");
    context.require_multiple(out[1], group,
                             "the output channels, and the nearest multiple of attribute 'group' below,");
  }
  check_bias(context, in, out[1]);
  for (std::size_t i = 0; i < spatial; ++i) out.push_back(window.output(i, context.dim(in.x, i + 2), kernel[i]));
  return out;
}

void infer_convolution(InferContext& context, const ConvInputs& in, ElementType type) {
  context.tensor(in.x);
  context.tensor(in.w);
  if (!context.has_rank(in.x)) return context.set_unranked(0, type);
  context.set_tensor(0, type, convolved(context, in));
}

void infer_conv_integer(InferContext& context) {
  require_type(context, 2, context.tensor(0).element);
  require_type(context, 3, context.tensor(1).element);
  infer_convolution(context, {0, 1, kNoInput}, ElementType::kInt32);
}

void infer_qlinear_conv(InferContext& context) {
  for (std::size_t i : {1, 4, 6}) require_type(context, i, ElementType::kFloat32);
  require_type(context, 2, context.tensor(0).element);
  require_type(context, 5, context.tensor(3).element);
  require_type(context, 8, ElementType::kInt32);
  infer_convolution(context, {0, 3, 8}, context.tensor(7).element);
}

void infer_conv_transpose(InferContext& context) {
  const ElementType type = context.tensor(0).element;
  context.require(context.tensor(1).element == type, "data and weights must have one element type");
  if (!context.has_rank(0)) return context.set_unranked(0, type);
  const ConvInputs in{0, 1, 2};
  const std::size_t spatial = spatial_rank(context, in);
  const std::int64_t group = positive_attribute(context, "group");
  const TransposedWindow window = TransposedWindow::parse(context.attributes(), spatial);
  const std::vector<Dim> kernel = kernel_dims(context, in, spatial);
  std::vector<Dim> out = {context.dim(0, 0),
                          context.has_rank(1) ? context.dim(1, 1) * group : context.fresh("channels")};
  if (context.has_rank(1)) {
    const Dim channels =
        context.same(context.dim(0, 1), context.dim(1, 0), "the data's channels and the weights' dimension 0");
    context.require_multiple(channels, group, "the channels, and the nearest multiple of attribute 'group' below,");
  }
  check_bias(context, in, out[1]);
  for (std::size_t i = 0; i < spatial; ++i) {
    out.push_back(window.output(i, context.dim(0, i + 2), kernel[i]));
    const bool fits = !out.back().is_constant() || out.back().constant() >= 0;
    context.require(fits, "the padding of spatial axis " + std::to_string(i) + " exceeds the output");
  }
  context.set_tensor(0, type, out);
}

void infer_deform_conv(InferContext& context) {
  const ElementType type = context.tensor(0).element;
  context.require(context.tensor(1).element == type && context.tensor(2).element == type,
                  "data, weights and offset must have one element type");
  if (!context.has_rank(0)) return context.set_unranked(0, type);
  const std::vector<Dim> out = convolved(context, {0, 1, 3});
  const std::int64_t offset_group = positive_attribute(context, "offset_group");
  context.require_multiple(context.dim(0, 1), offset_group,
                           "the data's channels, and the nearest multiple of attribute 'offset_group' below,");
  const std::vector<Dim> kernel = kernel_dims(context, {0, 1, 3}, out.size() - 2);
  Dim taps = offset_group;
  for (const Dim& dim : kernel) taps = taps * dim;
  const auto check = [&](std::size_t i, const Dim& channels, const std::string& what) {
    if (!context.has_input(i) || !context.has_rank(i)) return;
    context.require_rank(i, out.size());
    context.same(context.dim(i, 0), out[0], "the batch sizes of data and " + what);
    context.same(context.dim(i, 1), channels, "dimension 1 of " + what + " and what the kernel needs");
    for (std::size_t d = 2; d < out.size(); ++d)
      context.same(context.dim(i, d), out[d], "the spatial sizes of " + what + " and the output");
  };
  check(2, taps * static_cast<std::int64_t>(kernel.size()), "offset");
  check(4, taps, "mask");
  context.set_tensor(0, type, out);
}

void infer_col2im(InferContext& context) {
  const ElementType type = context.tensor(0).element;
  context.require_rank(0, 3);
  context.require_rank(1, 1);
  context.require_rank(2, 1);
  const auto image = context.values(1), block = context.values(2);
  const bool ranked = context.has_rank(1) && context.dim(1, 0).is_constant();
  if (!image && !ranked) return context.set_unranked(0, type);
  const std::size_t spatial = image ? image->size() : static_cast<std::size_t>(context.dim(1, 0).constant());
  WindowAttributes::parse(context.attributes(), spatial);
  std::vector<Dim> out = {context.has_rank(0) ? context.dim(0, 0) : context.fresh("batch"), context.fresh("channels")};
  if (block && context.has_rank(0)) {
    context.require(block->size() == spatial, "image_shape and block_shape must have one length");
    Dim taps = 1;
    for (const Dim& dim : *block) taps = taps * dim;
    context.require(!taps.is_constant() || taps.constant() > 0, "the elements of block_shape must be positive");
    out[1] = floor_div(context.dim(0, 1), taps);
  }
  for (std::size_t i = 0; i < spatial; ++i) out.push_back(image ? (*image)[i] : context.fresh("image"));
  context.set_tensor(0, type, out);
}

void infer_causal_conv_with_state(InferContext& context) {
  const ElementType type = context.tensor(0).element;
  context.tensor(1);
  context.require_rank(0, 3);
  context.require_rank(1, 3);
  const std::string activation = context.attributes().get_string("activation", "none");
  context.require(activation == "none" || activation == "silu" || activation == "swish",
                  "attribute 'activation' must be none, silu or swish, found '" + activation + "'");
  context.set_like(0, 0);
  if (!context.has_rank(0) || !context.has_rank(1)) return context.set_unranked(1, type);
  const Dim channels = context.same(context.dim(0, 1), context.dim(1, 0), "the channels of data and weights");
  context.same(context.dim(1, 1), 1, "dimension 1 of the weights, which must be 1, and 1");
  check_bias(context, {0, 1, 2}, channels);
  const Dim kept = context.dim(1, 2) - 1;
  context.require(!kept.is_constant() || kept.constant() >= 0, "the kernel must have at least one element");
  if (context.has_input(3) && context.has_rank(3)) {
    context.require_rank(3, 3);
    context.same(context.dim(3, 0), context.dim(0, 0), "the batch sizes of data and past_state");
    context.same(context.dim(3, 1), channels, "the channels of data and past_state");
    context.same(context.dim(3, 2), kept, "the length of past_state and the kernel's size less 1");
  }
  context.set_tensor(1, type, {context.dim(0, 0), channels, kept});
}

}  // namespace

void infer_conv(InferContext& context) {
  const ElementType type = context.tensor(0).element;
  context.require(is_floating_point(type),
                  "the data of Conv must be of a floating-point type, found " + std::string(name(type)));
  context.require(context.tensor(1).element == type, "data and weights must have one element type");
  infer_convolution(context, {0, 1, 2}, type);
}

void add_conv_ops(OpTable& table) {
  table.push_back({"", "Conv", infer_conv, {}});
  table.push_back({"", "ConvInteger", infer_conv_integer, {}});
  table.push_back({"", "QLinearConv", infer_qlinear_conv, {}});
  table.push_back({"", "ConvTranspose", infer_conv_transpose, {}});
  table.push_back({"", "DeformConv", infer_deform_conv, {}});
  table.push_back({"", "Col2Im", infer_col2im, {.shape_inputs = mask({1, 2})}});
  table.push_back({"", "CausalConvWithState", infer_causal_conv_with_state, {}});
}

}  // namespace sardonyx::ops
