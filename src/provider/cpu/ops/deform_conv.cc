#include <array>
#include <cmath>

#include "provider/cpu/ops/axis_view.h"
#include "provider/cpu/ops/conv.h"
#include "provider/cpu/ops/conv_geometry.h"
#include "provider/cpu/ops/wide_io.h"

namespace sardonyx::provider::cpu {
namespace {

constexpr std::size_t kMaxAxes = 6;  ///< spatial axes a deformable convolution may have

/// The value at a fractional position by linear interpolation along every axis; elements outside the plane are 0.
template <typename T>
T sample(const T* plane, const std::vector<SpatialAxis>& axes, const T* position) {
  const std::size_t rank = axes.size();
  std::array<std::int64_t, kMaxAxes> low;
  std::array<T, kMaxAxes> fraction;
  for (std::size_t i = 0; i < rank; ++i) {
    const T floor = std::floor(position[i]);
    // Also catches NaN and positions too far out for an integer.
    if (!(floor >= T(-1) && floor < static_cast<T>(axes[i].in))) return T(0);
    low[i] = static_cast<std::int64_t>(floor);
    fraction[i] = position[i] - floor;
  }
  T total = 0;
  for (std::size_t corner = 0; corner < std::size_t{1} << rank; ++corner) {
    T weight = 1;
    std::int64_t offset = 0;
    bool inside = true;
    for (std::size_t i = 0; i < rank && inside; ++i) {
      const bool upper = corner >> i & 1;
      const std::int64_t at = low[i] + (upper ? 1 : 0);
      inside = at >= 0 && at < axes[i].in;
      weight *= upper ? fraction[i] : T(1) - fraction[i];
      offset = offset * axes[i].in + at;
    }
    if (inside) total += weight * plane[offset];
  }
  return total;
}

template <typename T>
struct DeformedConv {
  const ConvGeometry& geometry;
  std::int64_t offset_groups;
  const T *x, *w, *offset, *bias, *mask;
  T* y;

  void run(const Parallel& parallel) const {
    const ConvGeometry& g = geometry;
    const std::int64_t positions = g.batch * g.out_size;
    const auto cost = static_cast<std::size_t>(g.in_channels * g.taps * g.groups * (g.out_channels + 16));
    parallel.parallel_for(static_cast<std::size_t>(positions), chunk_of(cost, 65536),
                          [&](std::size_t begin, std::size_t end) {
                            for (auto i = static_cast<std::int64_t>(begin); i < static_cast<std::int64_t>(end); ++i)
                              compute(i / g.out_size, i % g.out_size);
                          });
  }

 private:
  void compute(std::int64_t n, std::int64_t position) const {
    const ConvGeometry& g = geometry;
    const std::int64_t outputs = g.groups * g.out_channels, inputs = g.groups * g.in_channels;
    T* out = y + n * outputs * g.out_size + position;
    for (std::int64_t m = 0; m < outputs; ++m) out[m * g.out_size] = bias ? bias[m] : T(0);
    for (std::int64_t c = 0; c < inputs; ++c) {
      const std::int64_t offset_group = c / (inputs / offset_groups), group = c / g.in_channels;
      for (std::int64_t tap = 0; tap < g.taps; ++tap) {
        const T value = sampled(n, c, offset_group, tap, position);
        for (std::int64_t m = group * g.out_channels; m < (group + 1) * g.out_channels; ++m) {
          out[m * g.out_size] += w[(m * g.in_channels + c % g.in_channels) * g.taps + tap] * value;
        }
      }
    }
  }

  T sampled(std::int64_t n, std::int64_t channel, std::int64_t offset_group, std::int64_t tap,
            std::int64_t position) const {
    const ConvGeometry& g = geometry;
    const auto rank = static_cast<std::int64_t>(g.axes.size());
    const std::int64_t slot = (n * offset_groups + offset_group) * g.taps + tap;
    T at[kMaxAxes];
    std::int64_t window = position, rest = tap;
    for (std::size_t i = g.axes.size(); i-- > 0;) {
      const SpatialAxis& axis = g.axes[i];
      at[i] = static_cast<T>(axis.position(window % axis.out, rest % axis.kernel)) +
              offset[(slot * rank + static_cast<std::int64_t>(i)) * g.out_size + position];
      window /= axis.out;
      rest /= axis.kernel;
    }
    const T value = sample(x + (n * g.groups * g.in_channels + channel) * g.in_size, g.axes, at);
    return mask ? value * mask[slot * g.out_size + position] : value;
  }
};

class DeformConvKernel final : public Kernel {
 public:
  explicit DeformConvKernel(const NodeDesc& node)
      : attributes_(*node.attributes),
        groups_(node.attributes->get_int("group", 1)),
        offset_groups_(node.attributes->get_int("offset_group", 1)) {}

  Binding bind(const BindContext& context) const override {
    const Shape &x = context.inputs[0]->shape, &w = context.inputs[1]->shape;
    if (x.rank() - 2 > kMaxAxes)
      fail(ErrorCode::kUnsupported, "DeformConv has no kernel for more than {} spatial axes", kMaxAxes);
    const auto window = ops::WindowAttributes::parse(attributes_, x.rank() - 2);
    return {WideIo::workspace_bytes(context), std::make_shared<ConvGeometry>(ConvGeometry::make(
                                                  window, x, context.outputs[0]->shape, kernel_of(w), groups_))};
  }

  void run(RunContext& context) const override {
    WideIo io(context, context.workspace());
    dispatch_wide(context.input(0).type, "DeformConv", [&]<typename T>() {
      DeformedConv<T>{context.params<ConvGeometry>(),
                      offset_groups_,
                      io.input<T>(0),
                      io.input<T>(1),
                      io.input<T>(2),
                      io.input<T>(3),
                      io.input<T>(4),
                      io.output<T>(0)}
          .run(context.parallel);
    });
    io.store();
  }

 private:
  graph::Attributes attributes_;
  std::int64_t groups_, offset_groups_;
};

}  // namespace

void add_deform_conv_kernels(KernelTable& table) {
  table.push_back({"", "DeformConv", supports_float, make<DeformConvKernel>});
}

}  // namespace sardonyx::provider::cpu
