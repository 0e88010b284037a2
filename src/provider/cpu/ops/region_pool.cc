#include <algorithm>
#include <cmath>
#include <limits>

#include "provider/cpu/ops/axis_view.h"
#include "provider/cpu/ops/pool.h"
#include "provider/cpu/ops/wide_io.h"

namespace sardonyx::provider::cpu {
namespace {

/// Sampling points along one side of a bin above which a region is taken for a mistake.
constexpr double kMaxSamples = 1 << 16;

std::int64_t batch_index(double index, std::int64_t batch) {
  if (!(index >= 0 && index < static_cast<double>(batch))) {
    fail(ErrorCode::kInvalidArgument, "a region belongs to batch item {}, but there are {}", index, batch);
  }
  return static_cast<std::int64_t>(index);
}

/// The four neighbours of a sampling point and their weights; all 0 outside the feature map.
template <typename T>
struct Sample {
  std::int64_t at[4] = {};
  T weight[4] = {};

  Sample(T y, T x, std::int64_t height, std::int64_t width) {
    if (!(y >= T(-1) && y <= static_cast<T>(height) && x >= T(-1) && x <= static_cast<T>(width))) return;
    const auto [y_low, y_high, ly] = neighbours(y, height);
    const auto [x_low, x_high, lx] = neighbours(x, width);
    const std::int64_t positions[4] = {y_low * width + x_low, y_low * width + x_high, y_high * width + x_low,
                                       y_high * width + x_high};
    const T weights[4] = {(1 - ly) * (1 - lx), (1 - ly) * lx, ly * (1 - lx), ly * lx};
    std::copy_n(positions, 4, at);
    std::copy_n(weights, 4, weight);
  }

 private:
  struct Pair {
    std::int64_t low, high;
    T fraction;
  };
  static Pair neighbours(T position, std::int64_t size) {
    position = std::max(position, T(0));
    const auto low = static_cast<std::int64_t>(position);
    if (low >= size - 1) return {size - 1, size - 1, T(0)};
    return {low, low + 1, position - static_cast<T>(low)};
  }
};

class RoiAlignKernel final : public Kernel {
 public:
  explicit RoiAlignKernel(const NodeDesc& node)
      : max_(node.attributes->get_string("mode", "avg") == "max"),
        half_pixel_(node.attributes->get_string("coordinate_transformation_mode", "half_pixel") == "half_pixel"),
        sampling_ratio_(node.attributes->get_int("sampling_ratio", 0)),
        scale_(node.attributes->get_float("spatial_scale", 1)) {}

  Binding bind(const BindContext& context) const override { return {WideIo::workspace_bytes(context), {}}; }

  void run(RunContext& context) const override {
    const Shape &x = context.input(0).shape, &y = context.output(0).shape;
    if (y.num_elements() == 0) return;
    if (x[2] * x[3] == 0)
      fail(ErrorCode::kInvalidArgument, "RoiAlign needs a feature map with elements, found {}", x.to_string());
    const auto* batch = context.input(2).data<std::int64_t>();
    WideIo io(context, context.workspace());
    dispatch_wide(context.input(0).type, "RoiAlign", [&]<typename T>() {
      const T *data = io.input<T>(0), *regions = io.input<T>(1);
      T* out = io.output<T>(0);
      context.parallel.parallel_for(static_cast<std::size_t>(y[0]), 1, [&](std::size_t begin, std::size_t end) {
        for (std::size_t r = begin; r < end; ++r) {
          const std::int64_t item = batch_index(static_cast<double>(batch[r]), x[0]);
          const auto values = static_cast<std::size_t>(y.product(1, 4));
          align(data + item * x.product(1, 4), x, regions + r * 4, out + r * values, y);
        }
      });
    });
    io.store();
  }

 private:
  std::int64_t samples(double extent) const {
    if (sampling_ratio_ > 0) return sampling_ratio_;
    if (!(extent > 0)) return 0;
    if (extent > kMaxSamples)
      fail(ErrorCode::kInvalidArgument, "a region's bin is {} elements wide; RoiAlign takes at most {}", extent,
           kMaxSamples);
    return static_cast<std::int64_t>(std::ceil(extent));
  }

  template <typename T>
  void align(const T* data, const Shape& x, const T* region, T* out, const Shape& y) const {
    const T shift = half_pixel_ ? T(0.5) : T(0), scale = static_cast<T>(scale_);
    const T left = region[0] * scale - shift, top = region[1] * scale - shift;
    T width = region[2] * scale - shift - left, height = region[3] * scale - shift - top;
    if (!half_pixel_) {  // a malformed region counts as one element
      width = std::max(width, T(1));
      height = std::max(height, T(1));
    }
    const T bin_height = height / static_cast<T>(y[2]), bin_width = width / static_cast<T>(y[3]);
    const std::int64_t rows = samples(bin_height), columns = samples(bin_width), plane = x[2] * x[3];
    std::fill_n(out, y.product(1, 4), T(0));
    const T count = static_cast<T>(std::max<std::int64_t>(1, rows * columns));
    for (std::int64_t bin = 0; bin < y[2] * y[3]; ++bin) {
      for (std::int64_t i = 0; i < rows * columns; ++i) {
        const T at_y = top + static_cast<T>(bin / y[3]) * bin_height +
                       (static_cast<T>(i / columns) + T(0.5)) * bin_height / static_cast<T>(rows);
        const T at_x = left + static_cast<T>(bin % y[3]) * bin_width +
                       (static_cast<T>(i % columns) + T(0.5)) * bin_width / static_cast<T>(columns);
        const Sample<T> sample(at_y, at_x, x[2], x[3]);
        for (std::int64_t c = 0; c < x[1]; ++c) add(sample, data + c * plane, i == 0, out[c * y[2] * y[3] + bin]);
      }
      for (std::int64_t c = 0; !max_ && c < x[1]; ++c) out[c * y[2] * y[3] + bin] /= count;
    }
  }

  /// The average adds the interpolated value; the maximum takes the greatest weighted neighbour, as the standard has
  /// it.
  template <typename T>
  void add(const Sample<T>& sample, const T* plane, bool first, T& total) const {
    T terms[4];
    for (int i = 0; i < 4; ++i) terms[i] = sample.weight[i] * plane[sample.at[i]];
    if (!max_) {
      total += terms[0] + terms[1] + terms[2] + terms[3];
      return;
    }
    const T greatest = std::max(std::max(terms[0], terms[1]), std::max(terms[2], terms[3]));
    total = first ? greatest : std::max(total, greatest);
  }

  bool max_, half_pixel_;
  std::int64_t sampling_ratio_;
  float scale_;
};

/// The maximum over each bin of regions given in whole elements, [batch item, x1, y1, x2, y2]; 0 for an empty bin.
class MaxRoiPoolKernel final : public Kernel {
 public:
  explicit MaxRoiPoolKernel(const NodeDesc& node) : scale_(node.attributes->get_float("spatial_scale", 1)) {}

  Binding bind(const BindContext& context) const override { return {WideIo::workspace_bytes(context), {}}; }

  void run(RunContext& context) const override {
    const Shape &x = context.input(0).shape, &y = context.output(0).shape;
    WideIo io(context, context.workspace());
    dispatch_wide(context.input(0).type, "MaxRoiPool", [&]<typename T>() {
      const T *data = io.input<T>(0), *regions = io.input<T>(1);
      T* out = io.output<T>(0);
      context.parallel.parallel_for(static_cast<std::size_t>(y[0]), 1, [&](std::size_t begin, std::size_t end) {
        for (auto r = static_cast<std::int64_t>(begin); r < static_cast<std::int64_t>(end); ++r) {
          const std::int64_t item = batch_index(static_cast<double>(regions[r * 5]), x[0]);
          pool(data + item * x.product(1, 4), x, regions + r * 5 + 1, out + r * y.product(1, 4), y);
        }
      });
    });
    io.store();
  }

 private:
  struct Bin {
    std::int64_t begin, end;
  };

  /// Bin `i` of `count` over elements [first, last], clamped to [0, size).
  static Bin bin(std::int64_t i, std::int64_t count, std::int64_t first, std::int64_t last, std::int64_t size) {
    const double extent = static_cast<double>(std::max<std::int64_t>(last - first + 1, 1)) / static_cast<double>(count);
    const auto clamp = [&](double v) {
      return std::clamp<std::int64_t>(static_cast<std::int64_t>(v) + first, 0, size);
    };
    return {clamp(std::floor(static_cast<double>(i) * extent)), clamp(std::ceil(static_cast<double>(i + 1) * extent))};
  }

  template <typename T>
  std::int64_t rounded(T coordinate) const {
    const double value = std::round(static_cast<double>(coordinate) * scale_);
    constexpr double kLimit = 1 << 30;
    if (!(std::abs(value) <= kLimit)) fail(ErrorCode::kInvalidArgument, "a region's coordinate is {}", value);
    return static_cast<std::int64_t>(value);
  }

  template <typename T>
  void pool(const T* data, const Shape& x, const T* region, T* out, const Shape& y) const {
    const std::int64_t left = rounded(region[0]), top = rounded(region[1]), right = rounded(region[2]),
                       bottom = rounded(region[3]);
    for (std::int64_t i = 0; i < y[1] * y[2] * y[3]; ++i) {
      const std::int64_t channel = i / (y[2] * y[3]);
      const Bin rows = bin(i / y[3] % y[2], y[2], top, bottom, x[2]), columns = bin(i % y[3], y[3], left, right, x[3]);
      const bool empty = rows.begin >= rows.end || columns.begin >= columns.end;
      T greatest = empty ? T(0) : std::numeric_limits<T>::lowest();
      for (std::int64_t r = rows.begin; r < rows.end; ++r) {
        for (std::int64_t c = columns.begin; c < columns.end; ++c)
          greatest = std::max(greatest, data[(channel * x[2] + r) * x[3] + c]);
      }
      out[i] = greatest;
    }
  }

  float scale_;
};

}  // namespace

void add_region_pool_kernels(KernelTable& table) {
  table.push_back({"", "RoiAlign", supports_float, make<RoiAlignKernel>});
  table.push_back({"", "MaxRoiPool", supports_float, make<MaxRoiPoolKernel>});
}

}  // namespace sardonyx::provider::cpu
