#include <algorithm>
#include <optional>
#include <type_traits>

#include "ops/infer_context.h"
#include "provider/cpu/ops/axis_view.h"
#include "provider/cpu/ops/image.h"
#include "provider/cpu/ops/resize_plan.h"
#include "provider/cpu/ops/saturate.h"
#include "provider/cpu/ops/wide_io.h"

namespace sardonyx::provider::cpu {
namespace {

using ops::ResizeAttributes;
using ResizeTypes = NumberTypes;

/// Interpolates along the last axis: rows of `in` elements to rows of `out`.
template <typename W>
void interpolate_rows(const ResizeAxis& axis, const W* from, W* to, std::int64_t rows, W extrapolation,
                      const Parallel& parallel) {
  const std::vector<W> weights(axis.weights.begin(), axis.weights.end());
  const auto cost = static_cast<std::size_t>(axis.out * axis.taps);
  parallel.parallel_for(static_cast<std::size_t>(rows), chunk_of(cost), [&](std::size_t begin, std::size_t end) {
    for (auto row = static_cast<std::int64_t>(begin); row < static_cast<std::int64_t>(end); ++row) {
      const W* line = from + row * axis.in;
      W* out = to + row * axis.out;
      const std::int64_t* indices = axis.indices.data();
      const W* weight = weights.data();
      for (std::int64_t o = 0; o < axis.out; ++o, indices += axis.taps, weight += axis.taps) {
        W total = weight[0] * line[indices[0]];
        for (std::int64_t t = 1; t < axis.taps; ++t) total += weight[t] * line[indices[t]];
        out[o] = total;
      }
      for (std::size_t o = 0; o < axis.outside.size(); ++o) {
        if (axis.outside[o]) out[o] = extrapolation;
      }
    }
  });
}

/// Interpolates along one axis of `from`, seen as [outer, in, inner].
template <typename W>
void interpolate(const ResizeAxis& axis, const W* from, W* to, std::int64_t outer, std::int64_t inner, W extrapolation,
                 const Parallel& parallel) {
  if (inner == 1) return interpolate_rows(axis, from, to, outer, extrapolation, parallel);
  const auto cost = static_cast<std::size_t>(inner * axis.taps);
  parallel.parallel_for(
      static_cast<std::size_t>(outer * axis.out), chunk_of(cost), [&](std::size_t begin, std::size_t end) {
        for (auto item = static_cast<std::int64_t>(begin); item < static_cast<std::int64_t>(end); ++item) {
          const std::int64_t o = item % axis.out;
          W* out = to + item * inner;
          if (!axis.outside.empty() && axis.outside[static_cast<std::size_t>(o)]) {
            std::fill_n(out, inner, extrapolation);
            continue;
          }
          const W* line = from + item / axis.out * axis.in * inner;
          const std::int64_t* indices = axis.indices.data() + o * axis.taps;
          const double* weights = axis.weights.data() + o * axis.taps;
          for (std::int64_t t = 0; t < axis.taps; ++t) {
            const W weight = static_cast<W>(weights[t]);
            const W* source = line + indices[t] * inner;
            if (t == 0) {
              for (std::int64_t j = 0; j < inner; ++j) out[j] = weight * source[j];
            } else {
              for (std::int64_t j = 0; j < inner; ++j) out[j] += weight * source[j];
            }
          }
        }
      });
}

/// Copies the nearest elements of any type; rows are output lines along the last axis.
template <typename T>
void copy_nearest(const ResizePlan& plan, const TensorView& x, const TensorView& y, const T& extrapolation,
                  const Parallel& parallel) {
  const std::size_t rank = y.shape.rank(), last = rank - 1;
  std::vector<const ResizeAxis*> by_axis(rank, nullptr);
  for (const ResizeAxis& axis : plan.axes) by_axis[axis.axis] = &axis;
  const T* from = static_cast<const T*>(x.data_ptr);
  T* to = static_cast<T*>(y.data_ptr);
  const std::int64_t width = y.shape[last], in_width = x.shape[last];
  parallel.parallel_for(static_cast<std::size_t>(y.shape.product(0, last)), chunk_of(static_cast<std::size_t>(width)),
                        [&](std::size_t begin, std::size_t end) {
                          for (auto row = static_cast<std::int64_t>(begin); row < static_cast<std::int64_t>(end);
                               ++row) {
                            std::int64_t source = 0, stride = in_width, rest = row;
                            bool outside = false;
                            for (std::size_t d = last; d-- > 0;) {
                              const std::int64_t at = rest % y.shape[d];
                              rest /= y.shape[d];
                              const ResizeAxis* axis = by_axis[d];
                              source += (axis ? axis->indices[static_cast<std::size_t>(at)] : at) * stride;
                              outside |= axis && !axis->outside.empty() && axis->outside[static_cast<std::size_t>(at)];
                              stride *= x.shape[d];
                            }
                            T* out = to + row * width;
                            const ResizeAxis* axis = by_axis[last];
                            if (outside) {
                              std::fill_n(out, width, extrapolation);
                            } else if (!axis) {
                              std::copy_n(from + source, width, out);
                            } else {
                              for (std::int64_t j = 0; j < width; ++j)
                                out[j] = from[source + axis->indices[static_cast<std::size_t>(j)]];
                              for (std::size_t j = 0; j < axis->outside.size(); ++j) {
                                if (axis->outside[j]) out[j] = extrapolation;
                              }
                            }
                          }
                        });
}

std::vector<double> to_doubles(const TensorView& tensor) {
  std::vector<double> values;
  dispatch(FloatTypes{}, tensor.type, "Resize", [&]<typename T>() {
    for (std::int64_t i = 0; i < tensor.num_elements(); ++i) values.push_back(static_cast<double>(tensor.data<T>()[i]));
  });
  return values;
}

class ResizeKernel final : public Kernel {
 public:
  explicit ResizeKernel(const NodeDesc& node) : attributes_(*node.attributes) {
    const auto fixed = [&](std::size_t i) { return !node.has_input(i) || node.constant(i); };
    if (fixed(1) && fixed(2) && fixed(3)) {
      const auto view = [&](std::size_t i) { return node.has_input(i) ? &node.constant(i)->view() : nullptr; };
      fixed_ = gather(view(1), view(2), view(3));
    }
  }

  struct Params {
    ResizeAttributes attributes;
    std::optional<ResizePlan> plan;   ///< unset when it depends on values known only while running
    std::size_t buffer_elements = 0;  ///< the largest intermediate between two axes
  };

  Binding bind(const BindContext& context) const override {
    const Shape &x = context.inputs[0]->shape, &y = context.outputs[0]->shape;
    auto params = std::make_shared<Params>();
    params->attributes = ResizeAttributes::parse(attributes_, x.rank());
    if (fixed_) params->plan = ResizePlan::make(params->attributes, *fixed_, x, y);
    if (params->attributes.mode == ResizeAttributes::Mode::kNearest) return {0, std::move(params)};
    Shape between = x;
    std::int64_t largest = x.num_elements();
    for (std::size_t axis : params->attributes.axes) {
      between[axis] = y[axis];
      largest = std::max(largest, between.num_elements());
    }
    params->buffer_elements = static_cast<std::size_t>(largest);
    return {2 * align_workspace(params->buffer_elements * sizeof(double)), std::move(params)};
  }

  void run(RunContext& context) const override {
    const auto& params = context.params<Params>();
    const TensorView &x = context.input(0), &y = context.output(0);
    if (y.num_elements() == 0) return;
    if (params.plan) return run_plan(context, params, *params.plan);
    const auto view = [&](std::size_t i) { return context.has_input(i) ? &context.input(i) : nullptr; };
    run_plan(context, params, ResizePlan::make(params.attributes, gather(view(1), view(2), view(3)), x.shape, y.shape));
  }

 private:
  static ResizeInputs gather(const TensorView* roi, const TensorView* scales, const TensorView* sizes) {
    ResizeInputs inputs;
    if (roi) inputs.roi = to_doubles(*roi);
    if (scales) inputs.scales = to_doubles(*scales);
    if (sizes && sizes->num_elements() > 0) inputs.sizes = ops::to_int64s(*sizes);
    return inputs;
  }

  static void run_plan(RunContext& context, const Params& params, const ResizePlan& plan) {
    const TensorView &x = context.input(0), &y = context.output(0);
    const float extrapolation = params.attributes.extrapolation_value;
    if (plan.axes.empty()) {
      dispatch_width(x.type, "Resize", [&]<typename T>() {
        std::copy_n(static_cast<const T*>(x.data_ptr), x.num_elements(), static_cast<T*>(y.data_ptr));
      });
      return;
    }
    if (params.attributes.mode != ResizeAttributes::Mode::kNearest) {
      dispatch(ResizeTypes{}, x.type, "Resize", [&]<typename T>() { interpolate_axes<T>(context, params, plan); });
      return;
    }
    if (is_one_of(ResizeTypes{}, x.type)) {
      dispatch(ResizeTypes{}, x.type, "Resize", [&]<typename T>() {
        copy_nearest<T>(plan, x, y, saturate_round<T>(static_cast<InterpolationType<T>>(extrapolation)),
                        context.parallel);
      });
    } else {
      dispatch_width(x.type, "Resize", [&]<typename T>() { copy_nearest<T>(plan, x, y, T(), context.parallel); });
    }
  }

  /// One axis after the other between two buffers; the first reads the input and the last writes the output where types
  /// allow.
  template <typename T>
  static void interpolate_axes(RunContext& context, const Params& params, const ResizePlan& plan) {
    using W = InterpolationType<T>;
    const TensorView &x = context.input(0), &y = context.output(0);
    W* buffers[2] = {
        reinterpret_cast<W*>(context.workspace()),
        reinterpret_cast<W*>(context.workspace() + align_workspace(params.buffer_elements * sizeof(double)))};
    const W* from = nullptr;
    if constexpr (std::is_same_v<T, W>) {
      from = x.data<T>();
    } else {
      for (std::int64_t i = 0; i < x.num_elements(); ++i) buffers[1][i] = static_cast<W>(x.data<T>()[i]);
      from = buffers[1];
    }
    Shape shape = x.shape;
    for (std::size_t i = 0; i < plan.axes.size(); ++i) {
      const ResizeAxis& axis = plan.axes[i];
      W* to = buffers[i % 2];
      if constexpr (std::is_same_v<T, W>) to = i + 1 == plan.axes.size() ? y.mutable_data<T>() : to;
      interpolate<W>(axis, from, to, shape.product(0, axis.axis), shape.product(axis.axis + 1, shape.rank()),
                     static_cast<W>(params.attributes.extrapolation_value), context.parallel);
      shape[axis.axis] = axis.out;
      from = to;
    }
    if constexpr (!std::is_same_v<T, W>) {
      for (std::int64_t i = 0; i < y.num_elements(); ++i) y.mutable_data<T>()[i] = saturate_round<T>(from[i]);
    }
  }

  graph::Attributes attributes_;
  std::optional<ResizeInputs> fixed_;
};

Support supports_resize(const NodeDesc& node) {
  if (node.attributes->get_string("mode", "nearest") == "nearest") return Support::accept();
  return is_one_of(ResizeTypes{}, node.input_type(0)) ? Support::accept() : decline_type(node, 0);
}

}  // namespace

void add_resize_kernels(KernelTable& table) { table.push_back({"", "Resize", supports_resize, make<ResizeKernel>}); }

}  // namespace sardonyx::provider::cpu
