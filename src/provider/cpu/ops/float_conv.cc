#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/conv/conv.h"
#include "provider/cpu/ops/conv.h"
#include "provider/cpu/ops/direct_conv.h"
#include "provider/cpu/ops/wide_io.h"

namespace sardonyx::provider::cpu {
namespace {

/// What is decided once per shapes.
struct BoundConv {
  ConvGeometry geometry;
  std::optional<kernels::ConvShape> shape;             ///< set for the fp32 kernel: one or two spatial axes, not double
  std::size_t workspace_bytes = 0, weights_bytes = 0;  ///< of the fp32 kernel, and of weights packed while running
  int max_threads = 1;                                 ///< that the workspace is for
};

/// The geometry as the fp32 kernel takes it; rows of height 1 for one spatial axis.
kernels::ConvShape kernel_shape(const ConvGeometry& g) {
  const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  const SpatialAxis x = g.axes.back(), y = g.axes.size() > 1 ? g.axes[0] : SpatialAxis{};
  // Padding behind the input: what the last window needs.
  const auto pad_end = [&](const SpatialAxis& a) {
    return size(std::max<std::int64_t>(0, (a.out - 1) * a.stride + (a.kernel - 1) * a.dilation + 1 - a.in - a.pad));
  };
  kernels::ConvShape shape;
  shape.batch = size(g.batch);
  shape.groups = size(g.groups);
  shape.in_channels = size(g.in_channels * g.groups);
  shape.out_channels = size(g.out_channels * g.groups);
  shape.in_height = size(y.in), shape.in_width = size(x.in);
  shape.kernel_height = size(y.kernel), shape.kernel_width = size(x.kernel);
  shape.stride_y = size(y.stride), shape.stride_x = size(x.stride);
  shape.dilation_y = size(y.dilation), shape.dilation_x = size(x.dilation);
  shape.pad_top = size(y.pad), shape.pad_left = size(x.pad);
  shape.pad_bottom = pad_end(y), shape.pad_right = pad_end(x);
  return shape;
}

/// Weights that are packed once: constants of float32 with one or two spatial axes.
std::optional<PackRequest> pack_request(const NodeDesc& node, std::int64_t groups) {
  const Tensor* weights = node.constant(1);
  if (!weights || weights->type() != ElementType::kFloat32 || weights->num_elements() == 0) return std::nullopt;
  const Shape& w = weights->shape();
  if (w.rank() != 3 && w.rank() != 4) return std::nullopt;
  kernels::ConvShape shape;
  shape.groups = static_cast<std::size_t>(groups);
  shape.out_channels = static_cast<std::size_t>(w[0]);
  shape.in_channels = static_cast<std::size_t>(w[1] * groups);
  shape.kernel_height = w.rank() == 4 ? static_cast<std::size_t>(w[2]) : 1;
  shape.kernel_width = static_cast<std::size_t>(w[w.rank() - 1]);
  const std::string packing = std::string(kernels::packed_conv_weights_format()) + "/groups=" + std::to_string(groups);
  return PackRequest{1, packing, kernels::packed_conv_weights_size(shape) * sizeof(float),
                     [shape](const TensorView& view, std::byte* packed) {
                       kernels::pack_conv_weights(shape, view.data<float>(), reinterpret_cast<float*>(packed));
                     }};
}

/// The activation of ai.sardonyx.FusedConv, as attributes `activation` and `activation_params` name it.
struct FusedActivation {
  kernels::Unary function = kernels::Unary::kIdentity;
  float alpha = 0.0F, beta = 0.0F;
};

std::optional<FusedActivation> fused_activation(const NodeDesc& node) {
  struct Row {
    std::string_view name;
    kernels::Unary function;
    std::size_t params;
  };
  static constexpr Row kRows[] = {
      {"", kernels::Unary::kIdentity, 0},
      {"Relu", kernels::Unary::kRelu, 0},
      {"Swish", kernels::Unary::kSilu, 0},
      {"HardSwish", kernels::Unary::kHardSwish, 0},
      {"Tanh", kernels::Unary::kTanh, 0},
      {"Sigmoid", kernels::Unary::kSigmoid, 0},
      {"LeakyRelu", kernels::Unary::kLeakyRelu, 1},
      {"Clip", kernels::Unary::kClip, 2},
      {"HardSigmoid", kernels::Unary::kHardSigmoid, 2},
  };
  const std::string name = node.attributes->get_string("activation", "");
  const auto row = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return r.name == name; });
  const std::vector<float>* params = node.attributes->floats("activation_params");
  if (row == std::end(kRows) || (params ? params->size() : 0) != row->params) return std::nullopt;
  return FusedActivation{row->function, row->params > 0 ? (*params)[0] : 0.0F, row->params > 1 ? (*params)[1] : 0.0F};
}

/// Conv, and ai.sardonyx.FusedConv, which has a residual as input 3 and an activation besides.
class ConvKernel final : public Kernel {
 public:
  explicit ConvKernel(const NodeDesc& node)
      : attributes_(*node.attributes),
        groups_(node.attributes->get_int("group", 1)),
        packed_(pack_request(node, groups_)) {
    if (node.op_type == "FusedConv") activation_ = *fused_activation(node);
  }

  std::vector<PackRequest> pack_requests() const override {
    if (!packed_) return {};
    return {*packed_};
  }

  Binding bind(const BindContext& context) const override {
    const Shape &x = context.inputs[0]->shape, &w = context.inputs[1]->shape;
    const auto window = ops::WindowAttributes::parse(attributes_, x.rank() - 2);
    auto bound = std::make_shared<BoundConv>();
    bound->geometry = ConvGeometry::make(window, x, context.outputs[0]->shape, kernel_of(w), groups_);
    if (context.inputs[0]->type != ElementType::kFloat64 && bound->geometry.axes.size() <= 2) {
      bound->shape = kernel_shape(bound->geometry);
      bound->max_threads = ThreadPool::global().threads();
      bound->workspace_bytes =
          align_workspace(kernels::conv_workspace_size(*bound->shape, bound->max_threads) * sizeof(float));
      if (!packed_)
        bound->weights_bytes = align_workspace(kernels::packed_conv_weights_size(*bound->shape) * sizeof(float));
    }
    return {bound->workspace_bytes + bound->weights_bytes + WideIo::workspace_bytes(context), std::move(bound)};
  }

  void run(RunContext& context) const override {
    const auto& bound = context.params<BoundConv>();
    if (context.output(0).num_elements() == 0) return;
    WideIo io(context, context.workspace() + bound.workspace_bytes + bound.weights_bytes);
    dispatch_wide(context.input(0).type, "Conv", [&]<typename T>() {
      if constexpr (std::is_same_v<T, float>) {
        if (bound.shape) return run_kernel(context, io, bound);
      }
      const DirectConv<T, T, T> conv{bound.geometry, io.input<T>(0), io.input<T>(1)};
      const T* bias = io.input<T>(2);
      T* y = io.output<T>(0);
      conv.run(context.parallel, [&](std::int64_t channel, std::int64_t offset, const T* sums, std::int64_t count) {
        const T shift = bias ? bias[channel] : T(0);
        for (std::int64_t i = 0; i < count; ++i) y[offset + i] = sums[i] + shift;
      });
    });
    io.store();
  }

 private:
  void run_kernel(const RunContext& context, WideIo& io, const BoundConv& bound) const {
    const float* x = io.input<float>(0);
    const float* weights = nullptr;
    if (packed_) {
      weights = reinterpret_cast<const float*>(context.packed(0));
    } else {
      auto* memory = reinterpret_cast<float*>(context.workspace() + bound.workspace_bytes);
      kernels::pack_conv_weights(*bound.shape, io.input<float>(1), memory, context.parallel);
      weights = memory;
    }
    kernels::ConvEpilogue epilogue;
    epilogue.bias = io.input<float>(2);
    if (context.has_input(3)) epilogue.residual = context.input(3).data<float>();
    epilogue.activation = activation_.function;
    epilogue.alpha = activation_.alpha;
    epilogue.beta = activation_.beta;
    Parallel parallel = context.parallel;
    parallel.max_threads = std::min(parallel.max_threads, bound.max_threads);
    kernels::conv(*bound.shape, x, weights, io.output<float>(0), epilogue,
                  reinterpret_cast<float*>(context.workspace()), parallel);
  }

  graph::Attributes attributes_;
  std::int64_t groups_;
  std::optional<PackRequest> packed_;
  FusedActivation activation_;
};

Support supports_fused_conv(const NodeDesc& node) {
  if (node.input_type(0) != ElementType::kFloat32) return decline_type(node, 0);
  // The kernel that takes the rest in has one or two spatial axes.
  const std::size_t rank = node.inputs[1].rank();
  if (rank != 3 && rank != 4) return Support::decline("FusedConv needs one or two spatial axes");
  if (!fused_activation(node))
    return Support::decline("FusedConv knows no activation '" + node.attributes->get_string("activation", "") +
                            "' with these parameters");
  return Support::accept();
}

}  // namespace

void add_float_conv_kernels(KernelTable& table) {
  table.push_back({"", "Conv", supports_float, make<ConvKernel>});
  table.push_back({"ai.sardonyx", "FusedConv", supports_fused_conv, make<ConvKernel>});
}

}  // namespace sardonyx::provider::cpu
