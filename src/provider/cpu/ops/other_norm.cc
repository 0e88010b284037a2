#include <cmath>
#include <type_traits>
#include <vector>

#include "kernels/math/elementwise.h"
#include "provider/cpu/ops/axis_view.h"
#include "provider/cpu/ops/norm.h"
#include "provider/cpu/ops/wide_io.h"

namespace sardonyx::provider::cpu {
namespace {

/// x / ‖x‖ₚ along an axis, 0 where the norm is 0.
class LpNormalizationKernel final : public Kernel {
 public:
  explicit LpNormalizationKernel(const NodeDesc& node)
      : axis_(node.attributes->get_int("axis", -1)), p_(node.attributes->get_int("p", 2)) {}

  Binding bind(const BindContext& context) const override { return {WideIo::workspace_bytes(context), {}}; }

  void run(RunContext& context) const override {
    const TensorView& x = context.input(0);
    if (x.num_elements() == 0) return;
    const AxisView view = AxisView::around(x.shape, axis_);
    WideIo io(context, context.workspace());
    dispatch_wide(x.type, "LpNormalization", [&]<typename T>() {
      const T* in = io.input<T>(0);
      T* out = io.output<T>(0);
      context.parallel.parallel_for(
          view.outer * view.inner, chunk_of(view.length), [&](std::size_t begin, std::size_t end) {
            for (std::size_t item = begin; item < end; ++item) {
              normalize(in, out, item / view.inner * view.length * view.inner + item % view.inner, view);
            }
          });
    });
    io.store();
  }

 private:
  template <typename T>
  void normalize(const T* in, T* out, std::size_t first, const AxisView& view) const {
    double total = 0;
    for (std::size_t i = 0; i < view.length; ++i) {
      const double value = in[first + i * view.inner];
      total += p_ == 1 ? std::abs(value) : value * value;
    }
    const double norm = p_ == 1 ? total : std::sqrt(total);
    for (std::size_t i = 0; i < view.length; ++i) {
      const std::size_t at = first + i * view.inner;
      out[at] = norm == 0 ? T(0) : static_cast<T>(in[at] / norm);
    }
  }

  std::int64_t axis_, p_;
};

/// (x - mean) / sqrt(variance) over any axes. The data is [kept or reduced dimensions …]; each element's group is found
/// by walking the dimensions once.
class MeanVarianceNormalizationKernel final : public Kernel {
 public:
  explicit MeanVarianceNormalizationKernel(const NodeDesc& node)
      : axes_(node.attributes->get_ints("axes", {0, 2, 3})) {}

  struct Params {
    std::size_t groups = 1;
    std::vector<std::size_t> group_strides;  ///< per dimension; 0 where it is reduced
  };

  Binding bind(const BindContext& context) const override {
    const Shape& shape = context.inputs[0]->shape;
    auto params = std::make_shared<Params>();
    std::vector<bool> reduced(shape.rank(), false);
    for (std::int64_t axis : axes_) reduced[AxisView::normalize(axis, shape.rank())] = true;
    params->group_strides.assign(shape.rank(), 0);
    for (std::size_t i = shape.rank(); i-- > 0;) {
      if (reduced[i]) continue;
      params->group_strides[i] = params->groups;
      params->groups *= static_cast<std::size_t>(shape[i]);
    }
    const std::size_t sums = align_workspace(params->groups * 2 * sizeof(double));
    return {sums + WideIo::workspace_bytes(context), std::move(params)};
  }

  void run(RunContext& context) const override {
    const TensorView& x = context.input(0);
    const auto total = static_cast<std::size_t>(x.num_elements());
    if (total == 0) return;
    const Params& params = context.params<Params>();
    auto* mean = reinterpret_cast<double*>(context.workspace());
    double* deviation = mean + params.groups;
    std::fill_n(mean, params.groups * 2, 0.0);
    const double count = static_cast<double>(total / params.groups);
    WideIo io(context, context.workspace() + align_workspace(params.groups * 2 * sizeof(double)));
    dispatch_wide(x.type, "MeanVarianceNormalization", [&]<typename T>() {
      const T* in = io.input<T>(0);
      T* out = io.output<T>(0);
      for_each_group(x.shape, params, [&](std::size_t i, std::size_t group) { mean[group] += in[i]; });
      for (std::size_t g = 0; g < params.groups; ++g) mean[g] /= count;
      for_each_group(x.shape, params, [&](std::size_t i, std::size_t group) {
        deviation[group] += (in[i] - mean[group]) * (in[i] - mean[group]);
      });
      for (std::size_t g = 0; g < params.groups; ++g) deviation[g] = std::sqrt(deviation[g] / count);
      for_each_group(x.shape, params, [&](std::size_t i, std::size_t group) {
        out[i] = static_cast<T>((in[i] - mean[group]) / (deviation[group] + kEpsilon));
      });
    });
    io.store();
  }

 private:
  static constexpr double kEpsilon = 1e-9;  ///< as the operator's function body has it

  template <typename Fn>
  static void for_each_group(const Shape& shape, const Params& params, Fn&& fn) {
    const auto total = static_cast<std::size_t>(shape.num_elements());
    const std::size_t last = shape.rank() - 1;
    const auto width = static_cast<std::size_t>(shape[last]);
    for (std::size_t row = 0; row * width < total; ++row) {
      std::size_t group = 0, rest = row;
      for (std::size_t d = last; d-- > 0;) {
        group += rest % static_cast<std::size_t>(shape[d]) * params.group_strides[d];
        rest /= static_cast<std::size_t>(shape[d]);
      }
      for (std::size_t i = 0; i < width; ++i) fn(row * width + i, group + i * params.group_strides[last]);
    }
  }

  std::vector<std::int64_t> axes_;
};

/// x / (bias + alpha / size · Σ x²)^beta over neighbouring channels.
class LrnKernel final : public Kernel {
 public:
  explicit LrnKernel(const NodeDesc& node)
      : size_(node.attributes->get_int("size")),
        alpha_(node.attributes->get_float("alpha", 1e-4f)),
        beta_(node.attributes->get_float("beta", 0.75f)),
        bias_(node.attributes->get_float("bias", 1.0f)) {}

  Binding bind(const BindContext& context) const override { return {WideIo::workspace_bytes(context), {}}; }

  void run(RunContext& context) const override {
    const TensorView& x = context.input(0);
    if (x.num_elements() == 0) return;
    const AxisView view = AxisView::around(x.shape, 1);
    WideIo io(context, context.workspace());
    dispatch_wide(x.type, "LRN", [&]<typename T>() {
      const T* in = io.input<T>(0);
      T* out = io.output<T>(0);
      context.parallel.parallel_for(view.outer * view.length, chunk_of(view.inner * 16),
                                    [&](std::size_t begin, std::size_t end) {
                                      for (std::size_t item = begin; item < end; ++item) normalize(in, out, item, view);
                                    });
    });
    io.store();
  }

 private:
  /// One channel of one batch item.
  template <typename T>
  void normalize(const T* in, T* out, std::size_t item, const AxisView& view) const {
    const auto channel = static_cast<std::int64_t>(item % view.length),
               channels = static_cast<std::int64_t>(view.length);
    const std::int64_t first = std::max<std::int64_t>(0, channel - (size_ - 1) / 2);
    const std::int64_t last = std::min(channels - 1, channel + size_ / 2);
    const T* batch = in + item / view.length * view.length * view.inner;
    const T* x = in + item * view.inner;
    T* y = out + item * view.inner;
    std::fill_n(y, view.inner, T(0));
    for (std::int64_t c = first; c <= last; ++c) {
      const T* plane = batch + static_cast<std::size_t>(c) * view.inner;
      for (std::size_t i = 0; i < view.inner; ++i) y[i] += plane[i] * plane[i];
    }
    const T scale = static_cast<T>(alpha_) / static_cast<T>(size_);
    for (std::size_t i = 0; i < view.inner; ++i) y[i] = static_cast<T>(bias_) + scale * y[i];
    if constexpr (std::is_same_v<T, float>) {
      kernels::power(kernels::Operands::kScalarB, y, &beta_, y, view.inner);
    } else {
      for (std::size_t i = 0; i < view.inner; ++i) y[i] = std::pow(y[i], static_cast<T>(beta_));
    }
    for (std::size_t i = 0; i < view.inner; ++i) y[i] = x[i] / y[i];
  }

  std::int64_t size_;
  float alpha_, beta_, bias_;
};

}  // namespace

void add_other_norm_kernels(KernelTable& table) {
  table.push_back({"", "LpNormalization", supports_float, make<LpNormalizationKernel>});
  table.push_back({"", "MeanVarianceNormalization", supports_float, make<MeanVarianceNormalizationKernel>});
  table.push_back({"", "LRN", supports_float, make<LrnKernel>});
}

}  // namespace sardonyx::provider::cpu
