#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>

#include "kernels/conv/pool.h"
#include "provider/cpu/ops/axis_view.h"
#include "provider/cpu/ops/conv_geometry.h"
#include "provider/cpu/ops/pool.h"
#include "provider/cpu/ops/wide_io.h"

namespace sardonyx::provider::cpu {
namespace {

using Attributes = graph::Attributes;

template <typename T>
constexpr T lowest() {
  if constexpr (std::is_floating_point_v<T>)
    return -std::numeric_limits<T>::infinity();
  else
    return std::numeric_limits<T>::lowest();
}

/// Whether `candidate` takes the place of the greatest so far; a NaN does and stays.
template <typename T>
bool beats(T candidate, T greatest) {
  if constexpr (std::is_floating_point_v<T>)
    return candidate > greatest || candidate != candidate;
  else
    return candidate > greatest;
}

template <typename T>
struct MaxReduce {
  static constexpr T kInitial = lowest<T>();
  void add(T& total, T value) const { total = beats(value, total) ? value : total; }
  void finish(T*, std::int64_t, std::int64_t) const {}
};

template <typename T>
struct AverageReduce {
  static constexpr T kInitial = 0;
  const ConvGeometry& geometry;
  /// Elements of padding behind the input that count, per axis; all padding counts when include_pad.
  bool include_pad;
  const std::vector<std::int64_t>& pad_ends;

  void add(T& total, T value) const { total += value; }

  /// Divides a row of sums by how many elements each window has.
  void finish(T* out, std::int64_t row, std::int64_t count) const {
    std::int64_t outer = 1;
    for (std::size_t i = geometry.axes.size() - 1; i-- > 0;) {
      outer *= elements(i, row % geometry.axes[i].out);
      row /= geometry.axes[i].out;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t total = outer * elements(geometry.axes.size() - 1, i);
      out[i] = total ? out[i] / static_cast<T>(total) : T(0);
    }
  }

 private:
  std::int64_t elements(std::size_t axis_index, std::int64_t window) const {
    const SpatialAxis& axis = geometry.axes[axis_index];
    const std::int64_t begin = include_pad ? -axis.pad : 0, end = axis.in + (include_pad ? pad_ends[axis_index] : 0);
    const std::int64_t first = axis.position(window, 0);
    const std::int64_t low = first >= begin ? 0 : (begin - first + axis.dilation - 1) / axis.dilation;
    const std::int64_t high = first >= end ? 0 : std::min(axis.kernel, (end - 1 - first) / axis.dilation + 1);
    return std::max<std::int64_t>(0, high - low);
  }
};

template <typename T>
struct LpReduce {
  static constexpr T kInitial = 0;
  std::int64_t p;
  void add(T& total, T value) const {
    const T size = std::abs(value);
    total += p == 1 ? size : p == 2 ? size * size : std::pow(size, static_cast<T>(p));
  }
  void finish(T* out, std::int64_t, std::int64_t count) const {
    if (p == 1) return;
    for (std::int64_t i = 0; i < count; ++i)
      out[i] = p == 2 ? std::sqrt(out[i]) : std::pow(out[i], T(1) / static_cast<T>(p));
  }
};

/// Reduces every window, a row of outputs at a time: each tap adds its line of inputs to the row.
template <typename T, typename Reduce>
void pool_rows(const ConvGeometry& geometry, const T* x, T* y, const Reduce& reduce, const Parallel& parallel) {
  const std::int64_t planes = geometry.batch * geometry.in_channels, width = geometry.axes.back().out;
  if (planes * geometry.out_size == 0) return;
  const std::int64_t rows = geometry.out_size / width;
  const SpatialAxis& last = geometry.axes.back();
  const auto cost = static_cast<std::size_t>(width * geometry.taps);
  parallel.parallel_for(
      static_cast<std::size_t>(planes * rows), chunk_of(cost), [&](std::size_t begin, std::size_t end) {
        for (auto item = static_cast<std::int64_t>(begin); item < static_cast<std::int64_t>(end); ++item) {
          const T* plane = x + item / rows * geometry.in_size;
          T* out = y + item * width;
          std::fill_n(out, width, Reduce::kInitial);
          for (std::int64_t outer = 0; outer < geometry.taps / last.kernel; ++outer) {
            const std::int64_t line = geometry.input_line(item % rows, outer);
            if (line < 0) continue;
            for (std::int64_t tap = 0; tap < last.kernel; ++tap) {
              const auto [low, high] = last.inside(0, width, tap);
              const T* from = plane + line + last.position(0, tap);
              if (last.stride == 1) {
                for (std::int64_t i = low; i < high; ++i) reduce.add(out[i], from[i]);
              } else {
                for (std::int64_t i = low; i < high; ++i) reduce.add(out[i], from[i * last.stride]);
              }
            }
          }
          reduce.finish(out, item % rows, width);
        }
      });
}

/// Largest element and where it lies; `column_major` numbers positions in a plane with the first spatial axis fastest.
template <typename T>
class MaxWithIndices {
 public:
  const ConvGeometry& geometry;
  const T* x;
  T* y;
  std::int64_t* indices;
  bool column_major;

  void run(const Parallel& parallel) const {
    const std::int64_t planes = geometry.batch * geometry.in_channels;
    parallel.parallel_for(static_cast<std::size_t>(planes),
                          chunk_of(static_cast<std::size_t>(geometry.out_size * geometry.taps)),
                          [&](std::size_t begin, std::size_t end) {
                            for (auto p = static_cast<std::int64_t>(begin); p < static_cast<std::int64_t>(end); ++p) {
                              for (std::int64_t o = 0; o < geometry.out_size; ++o) find(p, o);
                            }
                          });
  }

 private:
  void find(std::int64_t plane, std::int64_t window) const {
    const SpatialAxis& last = geometry.axes.back();
    const T* data = x + plane * geometry.in_size;
    T greatest = lowest<T>();
    std::int64_t at = -1;
    for (std::int64_t outer = 0; outer < geometry.taps / last.kernel; ++outer) {
      const std::int64_t line = geometry.input_line(window / last.out, outer);
      if (line < 0) continue;
      for (std::int64_t tap = 0; tap < last.kernel; ++tap) {
        const std::int64_t position = last.position(window % last.out, tap);
        if (position < 0 || position >= last.in) continue;
        const T value = data[line + position];
        if (at >= 0 && !beats(value, greatest)) continue;
        if (at >= 0 && greatest != greatest) continue;  // the first NaN stays
        greatest = value;
        at = line + position;
      }
    }
    if (y) y[plane * geometry.out_size + window] = greatest;
    indices[plane * geometry.out_size + window] =
        at < 0 ? -1 : plane * geometry.in_size + (column_major ? transposed(at) : at);
  }

  std::int64_t transposed(std::int64_t at) const {
    std::int64_t result = 0;
    for (std::size_t i = geometry.axes.size(); i-- > 0;) {
      std::int64_t stride = 1;
      for (std::size_t j = 0; j < i; ++j) stride *= geometry.axes[j].in;
      result += at % geometry.axes[i].in * stride;
      at /= geometry.axes[i].in;
    }
    return result;
  }
};

/// One or two spatial axes as the fp32 kernels take them; nothing for more.
std::optional<kernels::PoolShape> kernel_shape(const ConvGeometry& g, const std::vector<std::int64_t>& pad_ends) {
  if (g.axes.size() > 2) return std::nullopt;
  const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  const SpatialAxis x = g.axes.back(), y = g.axes.size() > 1 ? g.axes[0] : SpatialAxis{};
  kernels::PoolShape shape;
  shape.planes = size(g.batch * g.in_channels);
  shape.in_height = size(y.in), shape.in_width = size(x.in);
  shape.out_height = size(y.out), shape.out_width = size(x.out);
  shape.kernel_height = size(y.kernel), shape.kernel_width = size(x.kernel);
  shape.stride_y = size(y.stride), shape.stride_x = size(x.stride);
  shape.dilation_y = size(y.dilation), shape.dilation_x = size(x.dilation);
  shape.pad_top = size(y.pad), shape.pad_left = size(x.pad);
  shape.pad_bottom = g.axes.size() > 1 ? size(pad_ends[0]) : 0, shape.pad_right = size(pad_ends.back());
  return shape;
}

/// What the window pools share: attributes and geometry.
class PoolKernel : public Kernel {
 public:
  explicit PoolKernel(const NodeDesc& node) : attributes_(*node.attributes) {}

  struct Params {
    ConvGeometry geometry;
    std::vector<std::int64_t> pad_ends;
    std::optional<kernels::PoolShape> shape;  ///< for the fp32 kernels
  };

  Binding bind(const BindContext& context) const override {
    const Shape& x = context.inputs[0]->shape;
    const TensorView* output = context.outputs[0] ? context.outputs[0] : context.outputs[1];
    const std::size_t spatial = x.rank() - 2;
    const auto window = ops::WindowAttributes::parse(attributes_, spatial);
    auto params = std::make_shared<Params>();
    params->geometry = ConvGeometry::make(window, x, output->shape, ops::kernel_shape(attributes_, spatial), 1);
    params->pad_ends.assign(window.pads.begin() + static_cast<std::ptrdiff_t>(spatial), window.pads.end());
    using AutoPad = ops::WindowAttributes::AutoPad;
    if (window.auto_pad == AutoPad::kSameUpper || window.auto_pad == AutoPad::kSameLower) {
      // Padding reaches to the end of the last window.
      for (std::size_t i = 0; i < spatial; ++i)
        params->pad_ends[i] = params->geometry.axes[i].kernel * params->geometry.axes[i].dilation;
    }
    params->shape = kernel_shape(params->geometry, params->pad_ends);
    return {WideIo::workspace_bytes(context), std::move(params)};
  }

 protected:
  graph::Attributes attributes_;
};

class MaxPoolKernel final : public PoolKernel {
 public:
  explicit MaxPoolKernel(const NodeDesc& node)
      : PoolKernel(node), column_major_(node.attributes->get_int("storage_order", 0) == 1) {}

  void run(RunContext& context) const override {
    const TensorView& x = context.input(0);
    if (x.type == ElementType::kInt8) return pool_bytes<std::int8_t>(context);
    if (x.type == ElementType::kUInt8) return pool_bytes<std::uint8_t>(context);
    WideIo io(context, context.workspace());
    dispatch_wide(x.type, "MaxPool", [&]<typename T>() { pool(context, io.input<T>(0), io.output<T>(0)); });
    io.store();
  }

 private:
  template <typename T>
  void pool_bytes(const RunContext& context) const {
    pool(context, context.input(0).data<T>(), context.wants_output(0) ? context.output(0).mutable_data<T>() : nullptr);
  }

  template <typename T>
  void pool(const RunContext& context, const T* x, T* y) const {
    const auto& params = context.params<Params>();
    const ConvGeometry& geometry = params.geometry;
    if constexpr (std::is_same_v<T, float>) {
      if (params.shape && !context.wants_output(1)) return kernels::max_pool(*params.shape, x, y, context.parallel);
    }
    if (!context.wants_output(1)) return pool_rows(geometry, x, y, MaxReduce<T>{}, context.parallel);
    MaxWithIndices<T>{geometry, x, y, context.output(1).mutable_data<std::int64_t>(), column_major_}.run(
        context.parallel);
  }

  bool column_major_;
};

class AveragePoolKernel final : public PoolKernel {
 public:
  explicit AveragePoolKernel(const NodeDesc& node)
      : PoolKernel(node), include_pad_(node.attributes->get_int("count_include_pad", 0) != 0) {}

  void run(RunContext& context) const override {
    const auto& params = context.params<Params>();
    WideIo io(context, context.workspace());
    dispatch_wide(context.input(0).type, "AveragePool", [&]<typename T>() {
      const T* x = io.input<T>(0);
      if constexpr (std::is_same_v<T, float>) {
        if (params.shape)
          return kernels::average_pool(*params.shape, include_pad_, x, io.output<float>(0), context.parallel);
      }
      pool_rows(params.geometry, x, io.output<T>(0), AverageReduce<T>{params.geometry, include_pad_, params.pad_ends},
                context.parallel);
    });
    io.store();
  }

 private:
  bool include_pad_;
};

class LpPoolKernel final : public PoolKernel {
 public:
  explicit LpPoolKernel(const NodeDesc& node) : PoolKernel(node), p_(node.attributes->get_int("p", 2)) {}

  void run(RunContext& context) const override {
    WideIo io(context, context.workspace());
    dispatch_wide(context.input(0).type, "LpPool", [&]<typename T>() {
      const T* x = io.input<T>(0);
      pool_rows(context.params<Params>().geometry, x, io.output<T>(0), LpReduce<T>{p_}, context.parallel);
    });
    io.store();
  }

 private:
  std::int64_t p_;
};

Support supports_max_pool(const NodeDesc& node) {
  if (type_in(node.input_type(0), {ElementType::kInt8, ElementType::kUInt8})) return Support::accept();
  return supports_float(node);
}

}  // namespace

void add_window_pool_kernels(KernelTable& table) {
  table.push_back({"", "MaxPool", supports_max_pool, make<MaxPoolKernel>});
  table.push_back({"", "AveragePool", supports_float, make<AveragePoolKernel>});
  table.push_back({"", "LpPool", supports_float, make<LpPoolKernel>});
}

}  // namespace sardonyx::provider::cpu
