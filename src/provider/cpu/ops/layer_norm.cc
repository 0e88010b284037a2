#include <cmath>
#include <type_traits>
#include <vector>

#include "kernels/norm/norm.h"
#include "provider/cpu/ops/axis_view.h"
#include "provider/cpu/ops/norm.h"
#include "provider/cpu/ops/wide_io.h"

namespace sardonyx::provider::cpu {
namespace {

/// A parameter that broadcasts to the data: its strides over the data's dimensions, 0 where it repeats. `dense` when it
/// has exactly one element for each element of a row, in order.
struct Broadcast {
  Shape shape;
  std::vector<std::size_t> strides;
  bool dense = false;

  Broadcast() = default;
  Broadcast(const Shape& parameter, const Shape& data, std::size_t axis) : shape(data), strides(data.rank(), 0) {
    const std::size_t offset = data.rank() - parameter.rank();
    std::size_t stride = 1;
    bool whole_row = true;
    for (std::size_t i = data.rank(); i-- > 0;) {
      const std::int64_t dim = i >= offset ? parameter[i - offset] : 1;
      if (dim != 1) strides[i] = stride;
      stride *= static_cast<std::size_t>(dim);
      whole_row &= i >= axis ? dim == data[i] : dim == 1;
    }
    dense = whole_row;
  }
  /// Where the element that goes with data element `index` lies.
  std::size_t offset(std::size_t index) const {
    std::size_t at = 0;
    for (std::size_t i = shape.rank(); i-- > 0;) {
      const auto dim = static_cast<std::size_t>(shape[i]);
      at += index % dim * strides[i];
      index /= dim;
    }
    return at;
  }
};

struct Params {
  AxisView view;
  Broadcast scale, bias;
};

/// Where the saved statistics go, in the type that stash_type names; null when not wanted.
struct Saved {
  const TensorView* tensor = nullptr;

  bool is_float() const { return tensor && tensor->type == ElementType::kFloat32; }
  /// Whether writing to `floats`, which may be null, is all there is to save.
  bool fits(const float* floats) const { return !tensor || floats; }

  void set(std::size_t row, double value) const {
    if (!tensor) return;
    switch (tensor->type) {
      case ElementType::kFloat32: tensor->mutable_data<float>()[row] = static_cast<float>(value); break;
      case ElementType::kFloat64: tensor->mutable_data<double>()[row] = value; break;
      case ElementType::kFloat16: tensor->mutable_data<Half>()[row] = Half(value); break;
      case ElementType::kBFloat16: tensor->mutable_data<BFloat16>()[row] = BFloat16(value); break;
      default: fail(ErrorCode::kUnsupported, "statistics can't be saved as {}", name(tensor->type));
    }
  }
};

template <typename T>
T sum_of(const T* x, std::size_t n) {
  T lanes[16] = {};
  std::size_t i = 0;
  for (; i + 16 <= n; i += 16) {
    for (std::size_t l = 0; l < 16; ++l) lanes[l] += x[i + l];
  }
  for (std::size_t l = 0; i < n; ++i, ++l) lanes[l] += x[i];
  for (std::size_t step : {8, 4, 2, 1}) {
    for (std::size_t l = 0; l < step; ++l) lanes[l] += lanes[l + step];
  }
  return lanes[0];
}

/// Sum of (x - center)².
template <typename T>
T square_sum_of(const T* x, std::size_t n, T center) {
  T lanes[16] = {};
  std::size_t i = 0;
  for (; i + 16 <= n; i += 16) {
    for (std::size_t l = 0; l < 16; ++l) lanes[l] += (x[i + l] - center) * (x[i + l] - center);
  }
  for (std::size_t l = 0; i < n; ++i, ++l) lanes[l] += (x[i] - center) * (x[i] - center);
  for (std::size_t step : {8, 4, 2, 1}) {
    for (std::size_t l = 0; l < step; ++l) lanes[l] += lanes[l + step];
  }
  return lanes[0];
}

template <typename T>
struct Row {
  const T* x;
  const T* scale;
  const T* bias;  ///< may be null
  T* y;
  std::size_t index;
};

/// y = (x - mean) · factor · scale + bias, for one row.
template <typename T>
void scale_row(const Row<T>& row, const Params& params, T mean, T factor) {
  const std::size_t n = params.view.length;
  if (params.scale.dense && (!row.bias || params.bias.dense)) {
    for (std::size_t i = 0; i < n; ++i)
      row.y[i] = (row.x[i] - mean) * factor * row.scale[i] + (row.bias ? row.bias[i] : T(0));
    return;
  }
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t at = row.index * n + i;
    const T scaled = (row.x[i] - mean) * factor * row.scale[params.scale.offset(at)];
    row.y[i] = row.bias ? scaled + row.bias[params.bias.offset(at)] : scaled;
  }
}

/// LayerNormalization (centered) and RMSNormalization over the axes [axis, rank).
template <bool centered>
class LayerNormKernel final : public Kernel {
 public:
  explicit LayerNormKernel(const NodeDesc& node)
      : axis_(node.attributes->get_int("axis", -1)), epsilon_(node.attributes->get_float("epsilon", 1e-5f)) {}

  Binding bind(const BindContext& context) const override {
    const Shape& shape = context.inputs[0]->shape;
    auto params = std::make_shared<Params>();
    const std::size_t axis = AxisView::normalize(axis_, shape.rank());
    params->view = AxisView::from(shape, axis_);
    params->scale = Broadcast(context.inputs[1]->shape, shape, axis);
    if (context.inputs.size() > 2 && context.inputs[2]) params->bias = Broadcast(context.inputs[2]->shape, shape, axis);
    return {WideIo::workspace_bytes(context), std::move(params)};
  }

  void run(RunContext& context) const override {
    const TensorView& x = context.input(0);
    if (x.num_elements() == 0) return;
    const Params& params = context.params<Params>();
    const Saved saved_mean{centered && context.wants_output(1) ? &context.output(1) : nullptr};
    const Saved saved_factor{centered && context.wants_output(2) ? &context.output(2) : nullptr};
    WideIo io(context, context.workspace());
    dispatch_wide(x.type, centered ? "LayerNormalization" : "RMSNormalization", [&]<typename T>() {
      const T* in = io.input<T>(0);
      const T* scale = io.input<T>(1);
      const T* bias = io.input<T>(2);
      T* out = io.output<T>(0);
      const std::size_t n = params.view.length;
      if constexpr (std::is_same_v<T, float>) {
        if (out && dense(params, bias)) {
          kernels::NormArguments arguments{
              .x = in, .gamma = scale, .beta = bias, .epsilon = epsilon_, .y = out, .rows = params.view.outer, .n = n};
          if (saved_mean.is_float()) arguments.mean = saved_mean.tensor->mutable_data<float>();
          if (saved_factor.is_float()) arguments.inverse_deviation = saved_factor.tensor->mutable_data<float>();
          if (saved_mean.fits(arguments.mean) && saved_factor.fits(arguments.inverse_deviation)) {
            return centered ? kernels::layer_norm(arguments, context.parallel)
                            : kernels::rms_norm(arguments, context.parallel);
          }
        }
      }
      context.parallel.parallel_for(params.view.outer, chunk_of(n * 4), [&](std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; ++row) {
          const T* x_row = in + row * n;
          const T count = static_cast<T>(n);
          const T mean = centered ? sum_of(x_row, n) / count : T(0);
          const T factor = T(1) / std::sqrt(square_sum_of(x_row, n, mean) / count + static_cast<T>(epsilon_));
          saved_mean.set(row, mean);
          saved_factor.set(row, factor);
          if (out) scale_row<T>({x_row, scale, bias, out + row * n, row}, params, mean, factor);
        }
      });
    });
    io.store();
  }

 private:
  static bool dense(const Params& params, const void* bias) {
    return params.scale.dense && (!bias || params.bias.dense);
  }

  std::int64_t axis_;
  float epsilon_;
};

}  // namespace

void add_layer_norm_kernels(KernelTable& table) {
  table.push_back({"", "LayerNormalization", supports_float, make<LayerNormKernel<true>>});
  table.push_back({"", "RMSNormalization", supports_float, make<LayerNormKernel<false>>});
}

}  // namespace sardonyx::provider::cpu
