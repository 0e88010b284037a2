#include "provider/cpu/ops/axis_view.h"
#include "provider/cpu/ops/conv.h"
#include "provider/cpu/ops/conv_geometry.h"
#include "provider/cpu/ops/wide_io.h"

namespace sardonyx::provider::cpu {
namespace {

/// Gathers: output element o along an axis receives tap t of input i where i · stride + t · dilation - pad = o.
template <typename T>
class TransposedConv {
 public:
  const ConvGeometry& geometry;
  const T *x, *w, *bias;
  T* y;

  void run(const Parallel& parallel) const {
    const ConvGeometry& g = geometry;
    const std::int64_t width = g.axes.back().out;
    if (g.batch * g.groups * g.out_channels * g.out_size == 0) return;
    const std::int64_t rows = g.out_size / width;
    const auto cost = static_cast<std::size_t>(width * g.in_channels * g.taps);
    parallel.parallel_for(static_cast<std::size_t>(g.batch * g.groups * g.out_channels * rows), chunk_of(cost, 65536),
                          [&](std::size_t begin, std::size_t end) {
                            for (auto i = static_cast<std::int64_t>(begin); i < static_cast<std::int64_t>(end); ++i) {
                              compute_row(i / rows, i % rows);
                            }
                          });
  }

 private:
  /// `plane` counts batch and output channels of all groups.
  void compute_row(std::int64_t plane, std::int64_t row) const {
    const ConvGeometry& g = geometry;
    const SpatialAxis& last = g.axes.back();
    const std::int64_t channel = plane % (g.groups * g.out_channels), n = plane / (g.groups * g.out_channels);
    const std::int64_t group = channel / g.out_channels;
    T* out = y + plane * g.out_size + row * last.out;
    std::fill_n(out, last.out, T(0));
    const T* data = x + (n * g.groups + group) * g.in_channels * g.in_size;
    const T* weights = w + (group * g.in_channels * g.out_channels + channel % g.out_channels) * g.taps;
    const std::int64_t outer_taps = g.taps / last.kernel;
    for (std::int64_t c = 0; c < g.in_channels; ++c) {
      for (std::int64_t outer = 0; outer < outer_taps; ++outer) {
        const std::int64_t line = input_line(row, outer);
        if (line < 0) continue;
        add_line(data + c * g.in_size + line, weights + c * g.out_channels * g.taps + outer * last.kernel, out);
      }
    }
    if (bias) {
      for (std::int64_t i = 0; i < last.out; ++i) out[i] += bias[channel];
    }
  }

  /// The offset of the input line that reaches output row `row` through tap `outer` (over all axes but the last), or
  /// -1.
  std::int64_t input_line(std::int64_t row, std::int64_t outer) const {
    std::int64_t offset = 0, stride = geometry.axes.back().in;
    for (std::size_t i = geometry.axes.size() - 1; i-- > 0;) {
      const SpatialAxis& axis = geometry.axes[i];
      const std::int64_t scaled = row % axis.out + axis.pad - outer % axis.kernel * axis.dilation;
      if (scaled < 0 || scaled % axis.stride != 0 || scaled / axis.stride >= axis.in) return -1;
      offset += scaled / axis.stride * stride;
      stride *= axis.in;
      row /= axis.out;
      outer /= axis.kernel;
    }
    return offset;
  }

  void add_line(const T* from, const T* taps, T* out) const {
    const SpatialAxis& axis = geometry.axes.back();
    for (std::int64_t tap = 0; tap < axis.kernel; ++tap) {
      // Output positions i · stride + shift for inputs i.
      const std::int64_t shift = tap * axis.dilation - axis.pad;
      const std::int64_t low = shift >= 0 ? 0 : (-shift + axis.stride - 1) / axis.stride;
      const std::int64_t high = std::min(axis.in, shift >= axis.out ? 0 : (axis.out - 1 - shift) / axis.stride + 1);
      for (std::int64_t i = low; i < high; ++i) out[i * axis.stride + shift] += taps[tap] * from[i];
    }
  }
};

class ConvTransposeKernel final : public Kernel {
 public:
  explicit ConvTransposeKernel(const NodeDesc& node)
      : attributes_(*node.attributes), groups_(node.attributes->get_int("group", 1)) {}

  Binding bind(const BindContext& context) const override {
    const Shape &x = context.inputs[0]->shape, &w = context.inputs[1]->shape;
    const auto window = ops::TransposedWindow::parse(attributes_, x.rank() - 2);
    return {WideIo::workspace_bytes(context), std::make_shared<ConvGeometry>(ConvGeometry::make(
                                                  window, x, context.outputs[0]->shape, kernel_of(w), groups_))};
  }

  void run(RunContext& context) const override {
    WideIo io(context, context.workspace());
    dispatch_wide(context.input(0).type, "ConvTranspose", [&]<typename T>() {
      TransposedConv<T>{context.params<ConvGeometry>(), io.input<T>(0), io.input<T>(1), io.input<T>(2), io.output<T>(0)}
          .run(context.parallel);
    });
    io.store();
  }

 private:
  graph::Attributes attributes_;
  std::int64_t groups_;
};

}  // namespace

void add_conv_transpose_kernels(KernelTable& table) {
  table.push_back({"", "ConvTranspose", supports_float, make<ConvTransposeKernel>});
}

}  // namespace sardonyx::provider::cpu
