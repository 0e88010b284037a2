#include <cmath>

#include "kernels/reduce/reduce.h"
#include "provider/cpu/ops/axis_view.h"
#include "provider/cpu/ops/norm.h"
#include "provider/cpu/ops/wide_io.h"

namespace sardonyx::provider::cpu {
namespace {

/// [N, C, spatial] sizes; data of rank 1 is [N, 1, 1].
struct ChannelView {
  std::size_t batch = 1, channels = 1, spatial = 1;

  explicit ChannelView(const Shape& shape) {
    batch = static_cast<std::size_t>(shape.rank() > 0 ? shape[0] : 1);
    channels = static_cast<std::size_t>(shape.rank() > 1 ? shape[1] : 1);
    if (shape.rank() > 2) spatial = static_cast<std::size_t>(shape.product(2, shape.rank()));
  }
};

/// y = (x - mean) · factor · scale + bias over n elements.
template <typename T>
void apply(const T* x, T* y, std::size_t n, T mean, T factor, T bias) {
  for (std::size_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * factor + bias;
}

/// Mean and population variance of elements that lie in `count` runs of `length`, `stride` apart. Sums are kept in
/// double.
struct Moments {
  double mean = 0, variance = 0;
};
template <typename T>
Moments moments(const T* x, std::size_t count, std::size_t length, std::size_t stride) {
  Moments result;
  const double total = static_cast<double>(count) * static_cast<double>(length);
  for (std::size_t run = 0; run < count; ++run) {
    for (std::size_t i = 0; i < length; ++i) result.mean += static_cast<double>(x[run * stride + i]);
  }
  result.mean /= total;
  for (std::size_t run = 0; run < count; ++run) {
    for (std::size_t i = 0; i < length; ++i) {
      const double centered = static_cast<double>(x[run * stride + i]) - result.mean;
      result.variance += centered * centered;
    }
  }
  result.variance /= total;
  return result;
}

template <typename T>
struct Centered {
  T mean, variance;
};
/// Mean and population variance of n elements, the variance about the mean. `scratch` gets x - mean; it is not x.
inline Centered<double> center(const double* x, double*, std::size_t n) {
  const Moments m = moments(x, 1, n, n);
  return {m.mean, m.variance};
}
inline Centered<float> center(const float* x, float* scratch, std::size_t n) {
  Centered<float> result{};
  kernels::reduce(kernels::Reduction::kMean, x, 1, n, 1, &result.mean);
  for (std::size_t i = 0; i < n; ++i) scratch[i] = x[i] - result.mean;
  kernels::reduce(kernels::Reduction::kSumSquare, scratch, 1, n, 1, &result.variance);
  result.variance /= static_cast<float>(n);
  return result;
}

class BatchNormKernel final : public Kernel {
 public:
  explicit BatchNormKernel(const NodeDesc& node)
      : training_(node.attributes->get_int("training_mode", 0) != 0),
        epsilon_(node.attributes->get_float("epsilon", 1e-5f)),
        momentum_(node.attributes->get_float("momentum", 0.9f)) {}

  Binding bind(const BindContext& context) const override { return {WideIo::workspace_bytes(context), {}}; }

  void run(RunContext& context) const override {
    const TensorView& x = context.input(0);
    WideIo io(context, context.workspace());
    dispatch_wide(x.type, "BatchNormalization", [&]<typename T>() {
      const Arrays<T> arrays{io.input<T>(0), io.input<T>(1),  io.input<T>(2),  io.input<T>(3),
                             io.input<T>(4), io.output<T>(0), io.output<T>(1), io.output<T>(2)};
      training_ ? train(arrays, ChannelView(x.shape), context.parallel) : infer(arrays, ChannelView(x.shape), context);
    });
    io.store();
  }

 private:
  template <typename T>
  struct Arrays {
    const T *x, *scale, *bias, *mean, *variance;
    T *y, *running_mean, *running_variance;
  };

  template <typename T>
  void infer(const Arrays<T>& a, const ChannelView& view, const RunContext& context) const {
    if (a.running_mean || a.running_variance) {
      fail(ErrorCode::kInvalidModel, "BatchNormalization has running statistics as outputs in training mode only");
    }
    context.parallel.parallel_for(
        view.batch * view.channels, chunk_of(view.spatial), [&](std::size_t begin, std::size_t end) {
          for (std::size_t item = begin; item < end; ++item) {
            const std::size_t channel = item % view.channels;
            const T factor = a.scale[channel] / std::sqrt(a.variance[channel] + static_cast<T>(epsilon_));
            apply(a.x + item * view.spatial, a.y + item * view.spatial, view.spatial, a.mean[channel], factor,
                  a.bias[channel]);
          }
        });
  }

  template <typename T>
  void train(const Arrays<T>& a, const ChannelView& view, const Parallel& parallel) const {
    const std::size_t stride = view.channels * view.spatial;
    parallel.parallel_for(view.channels, 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t channel = begin; channel < end; ++channel) {
        const std::size_t first = channel * view.spatial;
        const Moments m = moments(a.x + first, view.batch, view.spatial, stride);
        const T factor = static_cast<T>(a.scale[channel] / std::sqrt(m.variance + epsilon_));
        const double keep = momentum_;
        if (a.running_mean) a.running_mean[channel] = static_cast<T>(a.mean[channel] * keep + m.mean * (1 - keep));
        if (a.running_variance)
          a.running_variance[channel] = static_cast<T>(a.variance[channel] * keep + m.variance * (1 - keep));
        for (std::size_t n = 0; a.y && n < view.batch; ++n) {
          apply(a.x + n * stride + first, a.y + n * stride + first, view.spatial, static_cast<T>(m.mean), factor,
                a.bias[channel]);
        }
      }
    });
  }

  bool training_;
  float epsilon_, momentum_;
};

/// InstanceNormalization and GroupNormalization: statistics over the spatial axes of one channel, or of a group of
/// channels.
class GroupNormKernel final : public Kernel {
 public:
  explicit GroupNormKernel(const NodeDesc& node)
      : groups_(node.attributes->get_int("num_groups", 0)), epsilon_(node.attributes->get_float("epsilon", 1e-5f)) {}

  Binding bind(const BindContext& context) const override { return {WideIo::workspace_bytes(context), {}}; }

  void run(RunContext& context) const override {
    const TensorView& x = context.input(0);
    if (x.num_elements() == 0) return;
    const ChannelView view(x.shape);
    const std::size_t groups = groups_ > 0 ? static_cast<std::size_t>(groups_) : view.channels;
    const std::size_t per_group = view.channels / groups;
    WideIo io(context, context.workspace());
    dispatch_wide(x.type, "GroupNormalization", [&]<typename T>() {
      const T* in = io.input<T>(0);
      const T* scale = io.input<T>(1);
      const T* bias = io.input<T>(2);
      T* out = io.output<T>(0);
      const std::size_t size = per_group * view.spatial;
      context.parallel.parallel_for(view.batch * groups, chunk_of(size * 3), [&](std::size_t begin, std::size_t end) {
        for (std::size_t item = begin; item < end; ++item) {
          const Centered<T> centered = center(in + item * size, out + item * size, size);
          const T factor = T(1) / std::sqrt(centered.variance + static_cast<T>(epsilon_));
          for (std::size_t c = 0; c < per_group; ++c) {
            const std::size_t channel = item % groups * per_group + c, offset = item * size + c * view.spatial;
            apply(in + offset, out + offset, view.spatial, centered.mean, factor * scale[channel], bias[channel]);
          }
        }
      });
    });
    io.store();
  }

 private:
  std::int64_t groups_;  ///< 0: one channel each
  float epsilon_;
};

}  // namespace

void add_channel_norm_kernels(KernelTable& table) {
  table.push_back({"", "BatchNormalization", supports_float, make<BatchNormKernel>});
  table.push_back({"", "InstanceNormalization", supports_float, make<GroupNormKernel>});
  table.push_back({"", "GroupNormalization", supports_float, make<GroupNormKernel>});
}

}  // namespace sardonyx::provider::cpu
