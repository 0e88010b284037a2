#include <algorithm>
#include <type_traits>

#include "kernels/gemm/gemm.h"
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

/// The same as matrix products, for float: weightsᵀ times a tile of input positions gives what each position adds to
/// each output under its window; then every output plane gathers its additions, tile after tile.
class TransposedProducts {
 public:
  static constexpr std::int64_t kTile = 512;  ///< input positions of one product

  const ConvGeometry& geometry;
  const float *x, *w, *bias;
  float *y, *workspace;

  /// Whether there is enough to multiply; else gathering is better.
  static bool pays(const ConvGeometry& g) {
    return g.in_channels >= 8 && (g.out_channels * g.taps >= 16 || windows_tile(g));
  }
  static std::size_t workspace_elements(const ConvGeometry& g) { return columns_elements(g) + product_elements(g); }

  void run(const Parallel& parallel) const {
    const ConvGeometry& g = geometry;
    if (g.out_size == 0) return;
    const bool tiles = windows_tile(g);
    for (std::int64_t item = 0; item < g.batch * g.groups; ++item) {
      const float* data = x + item * g.in_channels * g.in_size;
      const float* weights = w + item % g.groups * g.in_channels * rows(g);
      for (std::int64_t first = 0; first < g.in_size || first == 0; first += kTile) {
        const std::int64_t count = std::min(kTile, g.in_size - first);
        if (count > 0)
          kernels::gemm_unpacked(static_cast<std::size_t>(rows(g)), static_cast<std::size_t>(count),
                                 static_cast<std::size_t>(g.in_channels), {weights, 1, rows(g)}, data + first,
                                 g.in_size, 1, workspace, static_cast<std::size_t>(count), {},
                                 workspace + columns_elements(g), parallel);
        parallel.parallel_for(static_cast<std::size_t>(g.out_channels), 1, [&](std::size_t begin, std::size_t end) {
          for (auto m = static_cast<std::int64_t>(begin); m < static_cast<std::int64_t>(end); ++m) {
            tiles ? place(item, m, first, count) : scatter(item, m, first, count);
          }
        });
      }
    }
  }

 private:
  static std::int64_t rows(const ConvGeometry& g) { return g.out_channels * g.taps; }
  static std::int64_t widest(const ConvGeometry& g) { return std::min(kTile, g.in_size); }
  static std::size_t columns_elements(const ConvGeometry& g) {
    return align_workspace(static_cast<std::size_t>(rows(g) * widest(g)));
  }
  static std::size_t product_elements(const ConvGeometry& g) {
    return kernels::gemm_unpacked_workspace_size(static_cast<std::size_t>(rows(g)), static_cast<std::size_t>(widest(g)),
                                                 static_cast<std::size_t>(g.in_channels));
  }

  /// Whether the windows lie side by side: every output element gets one product.
  static bool windows_tile(const ConvGeometry& g) {
    return std::all_of(g.axes.begin(), g.axes.end(), [](const SpatialAxis& axis) {
      return axis.kernel == axis.stride && axis.dilation == 1 && axis.pad == 0 && axis.out == axis.in * axis.stride;
    });
  }

  float bias_of(std::int64_t item, std::int64_t m) const {
    return bias ? bias[item % geometry.groups * geometry.out_channels + m] : 0.0f;
  }

  /// Writes what the tile's windows hold of one output plane, where they lie side by side.
  void place(std::int64_t item, std::int64_t m, std::int64_t first, std::int64_t count) const {
    const ConvGeometry& g = geometry;
    const SpatialAxis& last = g.axes.back();
    float* plane = y + (item * g.out_channels + m) * g.out_size;
    const float own = bias_of(item, m);
    for (std::int64_t outer = 0; outer < g.taps / last.kernel; ++outer) {
      const float* columns = workspace + (m * g.taps + outer * last.kernel) * count;
      for (std::int64_t done = 0; done < count;) {
        const std::int64_t column = (first + done) % last.in, width = std::min(count - done, last.in - column);
        float* out = plane + output_line((first + done) / last.in, outer) + column * last.stride;
        if (last.kernel == 2) {
          interleave(columns + done, columns + count + done, width, own, out);
        } else {
          for (std::int64_t tap = 0; tap < last.kernel; ++tap) {
            const float* from = columns + tap * count + done;
            for (std::int64_t i = 0; i < width; ++i) out[i * last.stride + tap] = from[i] + 0.0f + own;
          }
        }
        done += width;
      }
    }
  }

  /// Sums start from +0, as those of overlapping windows do.
  static void interleave(const float* even, const float* odd, std::int64_t count, float own, float* out) {
    for (std::int64_t i = 0; i < count; ++i) {
      out[2 * i] = even[i] + 0.0f + own;
      out[2 * i + 1] = odd[i] + 0.0f + own;
    }
  }

  /// Adds the tile's products to one output plane; the first tile clears it and the last adds the bias.
  void scatter(std::int64_t item, std::int64_t m, std::int64_t first, std::int64_t count) const {
    const ConvGeometry& g = geometry;
    const SpatialAxis& last = g.axes.back();
    float* plane = y + (item * g.out_channels + m) * g.out_size;
    if (first == 0) std::fill_n(plane, g.out_size, 0.0f);
    for (std::int64_t tap = 0; tap < g.taps; ++tap) {
      const float* columns = workspace + (m * g.taps + tap) * count;
      const std::int64_t shift = tap % last.kernel * last.dilation - last.pad;
      for (std::int64_t done = 0; done < count;) {
        const std::int64_t column = (first + done) % last.in, width = std::min(count - done, last.in - column);
        const std::int64_t line = output_line((first + done) / last.in, tap / last.kernel);
        if (line >= 0) add_line(columns + done, column * last.stride + shift, width, plane + line);
        done += width;
      }
    }
    if (bias && first + count >= g.in_size) {
      const float own = bias_of(item, m);
      for (std::int64_t i = 0; i < g.out_size; ++i) plane[i] += own;
    }
  }

  /// The offset of the output line that input line `line` reaches through tap `outer` (over all axes but the last), or
  /// -1.
  std::int64_t output_line(std::int64_t line, std::int64_t outer) const {
    std::int64_t offset = 0, stride = geometry.axes.back().out;
    for (std::size_t i = geometry.axes.size() - 1; i-- > 0;) {
      const SpatialAxis& axis = geometry.axes[i];
      const std::int64_t position = line % axis.in * axis.stride + outer % axis.kernel * axis.dilation - axis.pad;
      if (position < 0 || position >= axis.out) return -1;
      offset += position * stride;
      stride *= axis.out;
      line /= axis.in;
      outer /= axis.kernel;
    }
    return offset;
  }

  /// out[start + i · stride] += from[i] where that lies inside the line.
  void add_line(const float* from, std::int64_t start, std::int64_t count, float* out) const {
    const SpatialAxis& axis = geometry.axes.back();
    const std::int64_t low = start >= 0 ? 0 : (-start + axis.stride - 1) / axis.stride;
    const std::int64_t high = std::min(count, start >= axis.out ? 0 : (axis.out - 1 - start) / axis.stride + 1);
    for (std::int64_t i = low; i < high; ++i) out[start + i * axis.stride] += from[i];
  }
};

class ConvTransposeKernel final : public Kernel {
 public:
  explicit ConvTransposeKernel(const NodeDesc& node)
      : attributes_(*node.attributes), groups_(node.attributes->get_int("group", 1)) {}

  Binding bind(const BindContext& context) const override {
    const Shape &x = context.inputs[0]->shape, &w = context.inputs[1]->shape;
    const auto window = ops::TransposedWindow::parse(attributes_, x.rank() - 2);
    auto bound = std::make_shared<Bound>();
    bound->geometry = ConvGeometry::make(window, x, context.outputs[0]->shape, kernel_of(w), groups_);
    bound->products = context.inputs[0]->type != ElementType::kFloat64 && TransposedProducts::pays(bound->geometry);
    if (bound->products)
      bound->bytes = align_workspace(TransposedProducts::workspace_elements(bound->geometry) * sizeof(float));
    return {bound->bytes + WideIo::workspace_bytes(context), std::move(bound)};
  }

  void run(RunContext& context) const override {
    const auto& bound = context.params<Bound>();
    WideIo io(context, context.workspace() + bound.bytes);
    dispatch_wide(context.input(0).type, "ConvTranspose", [&]<typename T>() {
      const T *x = io.input<T>(0), *w = io.input<T>(1), *bias = io.input<T>(2);
      T* y = io.output<T>(0);
      if constexpr (std::is_same_v<T, float>) {
        auto* workspace = reinterpret_cast<float*>(context.workspace());
        if (bound.products) return TransposedProducts{bound.geometry, x, w, bias, y, workspace}.run(context.parallel);
      }
      TransposedConv<T>{bound.geometry, x, w, bias, y}.run(context.parallel);
    });
    io.store();
  }

 private:
  struct Bound {
    ConvGeometry geometry;
    bool products = false;
    std::size_t bytes = 0;  ///< of the products' workspace
  };

  graph::Attributes attributes_;
  std::int64_t groups_;
};

}  // namespace

void add_conv_transpose_kernels(KernelTable& table) {
  table.push_back({"", "ConvTranspose", supports_float, make<ConvTransposeKernel>});
}

}  // namespace sardonyx::provider::cpu
