#include <cmath>
#include <limits>

#include "provider/cpu/dispatch.h"
#include "provider/cpu/ops/conv.h"
#include "provider/cpu/ops/direct_conv.h"
#include "provider/cpu/ops/wide_io.h"

namespace sardonyx::provider::cpu {
namespace {

using Bytes = Types<std::int8_t, std::uint8_t>;

std::int32_t byte_at(const TensorView& tensor, std::int64_t i) {
  return tensor.type == ElementType::kInt8 ? std::int32_t{tensor.data<std::int8_t>()[i]} : std::int32_t{tensor.data<std::uint8_t>()[i]};
}

/// A parameter's element for output channel `channel`: a tensor of one element holds for all.
std::int64_t per_channel(const TensorView& tensor, std::int64_t channel) { return tensor.num_elements() == 1 ? 0 : channel; }

void require_channels(const TensorView& tensor, std::int64_t channels, const char* what) {
  const std::int64_t count = tensor.num_elements();
  if (count == 1 || count == channels) return;
  fail(ErrorCode::kInvalidModel, "{} must have 1 element or {}, one per output channel, found {}", what, channels, count);
}

void require_scalar(const TensorView& tensor, const char* what) {
  if (tensor.num_elements() != 1) fail(ErrorCode::kInvalidModel, "{} must have one element, found shape {}", what, tensor.shape.to_string());
}

/// What both integer convolutions share: geometry, and the weights' zero points as int32 in the workspace.
class IntegerConv : public Kernel {
 public:
  IntegerConv(const NodeDesc& node, std::size_t w_input)
      : attributes_(*node.attributes), groups_(node.attributes->get_int("group", 1)), w_input_(w_input) {}

  Binding bind(const BindContext& context) const override {
    const Shape &x = context.inputs[0]->shape, &y = context.outputs[0]->shape;
    const auto window = ops::WindowAttributes::parse(attributes_, x.rank() - 2);
    const std::vector<std::int64_t> kernel = kernel_of(context.inputs[w_input_]->shape);
    return {static_cast<std::size_t>(y[1]) * sizeof(std::int32_t),
            std::make_shared<ConvGeometry>(ConvGeometry::make(window, x, y, kernel, groups_))};
  }

 protected:
  template <typename Store>
  void convolve(RunContext& context, const TensorView* x_zero, const TensorView* w_zero, Store&& store) const {
    const auto& geometry = context.params<ConvGeometry>();
    const std::int64_t channels = geometry.groups * geometry.out_channels;
    auto* zeros = reinterpret_cast<std::int32_t*>(context.workspace());
    if (x_zero) require_scalar(*x_zero, "x_zero_point");
    if (w_zero) {
      require_channels(*w_zero, channels, "w_zero_point");
      for (std::int64_t i = 0; i < channels; ++i) zeros[i] = byte_at(*w_zero, per_channel(*w_zero, i));
    }
    const TensorView &x = context.input(0), &w = context.input(w_input_);
    dispatch(Bytes{}, x.type, "ConvInteger", [&]<typename X>() {
      dispatch(Bytes{}, w.type, "ConvInteger", [&]<typename W>() {
        const DirectConv<X, W, std::int32_t> conv{geometry, x.data<X>(), w.data<W>(), x_zero ? byte_at(*x_zero, 0) : 0, w_zero ? zeros : nullptr};
        conv.run(context.parallel, store);
      });
    });
  }

 private:
  graph::Attributes attributes_;
  std::int64_t groups_;
  std::size_t w_input_;
};

class ConvIntegerKernel final : public IntegerConv {
 public:
  explicit ConvIntegerKernel(const NodeDesc& node) : IntegerConv(node, 1) {}

  void run(RunContext& context) const override {
    auto* y = context.output(0).mutable_data<std::int32_t>();
    convolve(context, context.has_input(2) ? &context.input(2) : nullptr, context.has_input(3) ? &context.input(3) : nullptr,
             [&](std::int64_t, std::int64_t offset, const std::int32_t* sums, std::int64_t count) { std::copy_n(sums, count, y + offset); });
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
    dispatch(Bytes{}, y.type, "QLinearConv", [&]<typename Y>() {
      Y* out = y.mutable_data<Y>();
      convolve(context, &context.input(2), &context.input(5),
               [&](std::int64_t channel, std::int64_t offset, const std::int32_t* sums, std::int64_t count) {
                 const float factor = x_scale * w_scale.data<float>()[per_channel(w_scale, channel)] / y_scale;
                 // Wrapping addition: the sum may use all 32 bits.
                 const std::uint32_t shift = bias ? static_cast<std::uint32_t>(bias[channel]) : 0;
                 for (std::int64_t i = 0; i < count; ++i) {
                   const auto total = static_cast<std::int32_t>(static_cast<std::uint32_t>(sums[i]) + shift);
                   out[offset + i] = saturate<Y>(std::nearbyint(static_cast<float>(total) * factor), y_zero);
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
  table.push_back({"", "ConvInteger", [](const NodeDesc& node) { return supports_bytes(node, 1); }, make<ConvIntegerKernel>});
  table.push_back({"", "QLinearConv", [](const NodeDesc& node) { return supports_bytes(node, 3); }, make<QLinearConvKernel>});
}

}  // namespace sardonyx::provider::cpu
