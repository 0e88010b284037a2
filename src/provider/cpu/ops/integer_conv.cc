#include <cmath>
#include <limits>
#include <optional>

#include "provider/cpu/dispatch.h"
#include "provider/cpu/ops/conv.h"
#include "provider/cpu/ops/direct_conv.h"
#include "provider/cpu/ops/integer_conv_gemm.h"
#include "provider/cpu/ops/wide_io.h"

namespace sardonyx::provider::cpu {
namespace {

using Bytes = Types<std::int8_t, std::uint8_t>;

std::int32_t byte_at(const TensorView& tensor, std::int64_t i) {
  return tensor.type == ElementType::kInt8 ? std::int32_t{tensor.data<std::int8_t>()[i]}
                                           : std::int32_t{tensor.data<std::uint8_t>()[i]};
}

/// A parameter's element for output channel `channel`: a tensor of one element holds for all.
std::int64_t per_channel(const TensorView& tensor, std::int64_t channel) {
  return tensor.num_elements() == 1 ? 0 : channel;
}

void require_channels(const TensorView& tensor, std::int64_t channels, const char* what) {
  const std::int64_t count = tensor.num_elements();
  if (count == 1 || count == channels) return;
  fail(ErrorCode::kInvalidModel, "{} must have 1 element or {}, one per output channel, found {}", what, channels,
       count);
}

void require_scalar(const TensorView& tensor, const char* what) {
  if (tensor.num_elements() != 1)
    fail(ErrorCode::kInvalidModel, "{} must have one element, found shape {}", what, tensor.shape.to_string());
}

struct BoundIntegerConv {
  ConvGeometry geometry;
  std::size_t scales_offset = 0, products_offset = 0;  ///< in the workspace, in bytes
  int max_threads = 1;
};

/// What both integer convolutions share: geometry, and the weights' zero points as int32 in the workspace. Constant
/// weights are packed for matrix products where those pay.
class IntegerConv : public Kernel {
 public:
  IntegerConv(const NodeDesc& node, std::size_t w_input)
      : attributes_(*node.attributes), groups_(node.attributes->get_int("group", 1)), w_input_(w_input) {
    const Tensor* weights = node.constant(w_input);
    if (!weights || weights->shape().rank() < 3 || weights->num_elements() == 0) return;
    const Shape& w = weights->shape();
    if (IntegerConvGemm::pays(w[1], w[0] / groups_, w.product(2, w.rank())))
      packed_ = IntegerConvGemm::pack_request(w_input, *weights, groups_);
  }

  std::vector<PackRequest> pack_requests() const override {
    if (!packed_) return {};
    return {*packed_};
  }

  Binding bind(const BindContext& context) const override {
    const Shape &x = context.inputs[0]->shape, &y = context.outputs[0]->shape;
    const auto window = ops::WindowAttributes::parse(attributes_, x.rank() - 2);
    auto bound = std::make_shared<BoundIntegerConv>();
    bound->geometry = ConvGeometry::make(window, x, y, kernel_of(context.inputs[w_input_]->shape), groups_);
    bound->max_threads = ThreadPool::global().threads();
    bound->scales_offset = align_workspace(static_cast<std::size_t>(y[1]) * sizeof(std::int32_t));
    bound->products_offset = bound->scales_offset + align_workspace(static_cast<std::size_t>(y[1]) * sizeof(float));
    const std::size_t products = packed_ ? IntegerConvGemm::workspace_bytes(bound->geometry, bound->max_threads) : 0;
    return {bound->products_offset + products, std::move(bound)};
  }

 protected:
  /// Calls store for runs of exact sums, or lets the products write the output where the weights are packed.
  template <typename Store>
  void convolve(RunContext& context, const TensorView* x_zero, const TensorView* w_zero, kernels::IntegerOutput output,
                const kernels::IntegerEpilogue& epilogue, Store&& store) const {
    const auto& bound = context.params<BoundIntegerConv>();
    const ConvGeometry& geometry = bound.geometry;
    const std::int64_t channels = geometry.groups * geometry.out_channels;
    auto* zeros = reinterpret_cast<std::int32_t*>(context.workspace());
    if (x_zero) require_scalar(*x_zero, "x_zero_point");
    if (w_zero) {
      require_channels(*w_zero, channels, "w_zero_point");
      for (std::int64_t i = 0; i < channels; ++i) zeros[i] = byte_at(*w_zero, per_channel(*w_zero, i));
    }
    const TensorView &x = context.input(0), &w = context.input(w_input_);
    const std::int32_t x_zero_value = x_zero ? byte_at(*x_zero, 0) : 0;
    if (packed_) {
      const IntegerConvGemm products{geometry,
                                     x.data_ptr,
                                     x.type == ElementType::kInt8,
                                     x_zero_value,
                                     context.packed(0),
                                     w.type == ElementType::kInt8,
                                     w_zero ? zeros : nullptr,
                                     output,
                                     epilogue,
                                     context.output(0).data_ptr,
                                     context.workspace() + bound.products_offset,
                                     bound.max_threads};
      return products.run(context.parallel);
    }
    dispatch(Bytes{}, x.type, "ConvInteger", [&]<typename X>() {
      dispatch(Bytes{}, w.type, "ConvInteger", [&]<typename W>() {
        const DirectConv<X, W, std::int32_t> conv{geometry, x.data<X>(), w.data<W>(), x_zero_value,
                                                  w_zero ? zeros : nullptr};
        conv.run(context.parallel, store);
      });
    });
  }

 private:
  graph::Attributes attributes_;
  std::int64_t groups_;
  std::size_t w_input_;
  std::optional<PackRequest> packed_;
};

class ConvIntegerKernel final : public IntegerConv {
 public:
  explicit ConvIntegerKernel(const NodeDesc& node) : IntegerConv(node, 1) {}

  void run(RunContext& context) const override {
    auto* y = context.output(0).mutable_data<std::int32_t>();
    convolve(context, context.has_input(2) ? &context.input(2) : nullptr,
             context.has_input(3) ? &context.input(3) : nullptr, kernels::IntegerOutput::kInt32, {},
             [&](std::int64_t, std::int64_t offset, const std::int32_t* sums, std::int64_t count) {
               std::copy_n(sums, count, y + offset);
             });
  }
};

/// Inputs: x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, B.
class QLinearConvKernel final : public IntegerConv {
 public:
  explicit QLinearConvKernel(const NodeDesc& node) : IntegerConv(node, 3) {}

  void run(RunContext& context) const override {
    const TensorView &w_scale = context.input(4), &y = context.output(0);
    require_scalar(context.input(1), "x_scale");
    require_scalar(context.input(6), "y_scale");
    require_scalar(context.input(7), "y_zero_point");
    require_channels(w_scale, y.shape[1], "w_scale");
    const float x_scale = *context.input(1).data<float>(), y_scale = *context.input(6).data<float>();
    const std::int32_t y_zero = byte_at(context.input(7), 0);
    const auto* bias = context.has_input(8) ? context.input(8).data<std::int32_t>() : nullptr;
    auto* factors = reinterpret_cast<float*>(context.workspace() + context.params<BoundIntegerConv>().scales_offset);
    for (std::int64_t i = 0; i < y.shape[1]; ++i)
      factors[i] = x_scale * w_scale.data<float>()[per_channel(w_scale, i)] / y_scale;
    kernels::IntegerEpilogue epilogue;
    epilogue.integer_bias = bias;
    epilogue.column_scale = {factors, 1};
    epilogue.zero_point = y_zero;
    const auto output = y.type == ElementType::kInt8 ? kernels::IntegerOutput::kInt8 : kernels::IntegerOutput::kUint8;
    dispatch(Bytes{}, y.type, "QLinearConv", [&]<typename Y>() {
      Y* out = y.mutable_data<Y>();
      convolve(context, &context.input(2), &context.input(5), output, epilogue,
               [&](std::int64_t channel, std::int64_t offset, const std::int32_t* sums, std::int64_t count) {
                 // Wrapping addition: the sum may use all 32 bits.
                 const std::uint32_t shift = bias ? static_cast<std::uint32_t>(bias[channel]) : 0;
                 for (std::int64_t i = 0; i < count; ++i) {
                   const auto total = static_cast<std::int32_t>(static_cast<std::uint32_t>(sums[i]) + shift);
                   out[offset + i] = saturate<Y>(std::nearbyint(static_cast<float>(total) * factors[channel]), y_zero);
                 }
               });
    });
  }

 private:
  template <typename Y>
  static Y saturate(float rounded, std::int32_t zero) {
    constexpr float kLow = std::numeric_limits<Y>::min(), kHigh = std::numeric_limits<Y>::max();
    const float value = rounded + static_cast<float>(zero);
    return static_cast<Y>(value > kLow ? std::min(value, kHigh) : kLow);
  }
};

Support supports_bytes(const NodeDesc& node, std::size_t w_input) {
  for (std::size_t i : {std::size_t{0}, w_input}) {
    if (!is_one_of(Bytes{}, node.input_type(i))) return decline_type(node, i);
  }
  return Support::accept();
}

}  // namespace

void add_integer_conv_kernels(KernelTable& table) {
  table.push_back(
      {"", "ConvInteger", [](const NodeDesc& node) { return supports_bytes(node, 1); }, make<ConvIntegerKernel>});
  table.push_back(
      {"", "QLinearConv", [](const NodeDesc& node) { return supports_bytes(node, 3); }, make<QLinearConvKernel>});
}

}  // namespace sardonyx::provider::cpu
