#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "provider/cpu/ops/axis_view.h"
#include "provider/cpu/ops/image.h"
#include "provider/cpu/ops/saturate.h"
#include "provider/cpu/ops/wide_io.h"

namespace sardonyx::provider::cpu {
namespace {

constexpr std::size_t kMaxAxes = 4;         ///< spatial axes that GridSample takes
constexpr std::size_t kMaxTaps = 4;         ///< along one axis
constexpr std::size_t kMaxNeighbors = 256;  ///< kMaxTaps to the power kMaxAxes

enum class SampleMode : std::uint8_t { kNearest, kLinear, kCubic };
enum class PaddingMode : std::uint8_t { kZeros, kBorder, kReflection };

/// Reflects at both borders until inside.
template <typename G>
G reflect(G x, G low, G high) {
  const G range = high - low;
  if (x >= low && x <= high) return x;
  if (!(range > 0)) return low;
  const G distance = x < low ? low - x : x - high;
  const G turns = std::floor(distance / range), rest = distance - turns * range;
  const bool even = std::fmod(turns, G(2)) == 0;
  return (x < low) == even ? low + rest : high - rest;
}

struct SampleOptions {
  SampleMode mode = SampleMode::kLinear;
  PaddingMode padding = PaddingMode::kZeros;
  bool align_corners = false;

  /// Where in an axis of `size` elements the normalised coordinate `n` lies. Positions far outside are brought near,
  /// NaN to -1.
  template <typename G>
  G position(G n, std::int64_t size) const {
    const G length = static_cast<G>(size);
    G x = align_corners ? (n + 1) / 2 * (length - 1) : ((n + 1) * length - 1) / 2;
    if (mode == SampleMode::kNearest) x = std::nearbyint(x);
    if (x != x) x = -1;
    if (padding == PaddingMode::kReflection) return std::clamp(reflect(x, low<G>(), high<G>(size)), G(-1), length);
    // Every filter gives the same from four elements outside on.
    return padding == PaddingMode::kBorder ? std::clamp(x, G(0), length - 1) : std::clamp(x, G(-4), length + 4);
  }

  /// The element at integer position `i`, or -1 for zero.
  std::int64_t element(std::int64_t i, std::int64_t size) const {
    if (i >= 0 && i < size) return i;
    if (padding == PaddingMode::kZeros) return -1;
    if (padding == PaddingMode::kBorder) return std::clamp<std::int64_t>(i, 0, size - 1);
    const double reflected = reflect(static_cast<double>(i), low<double>(), high<double>(size));
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(reflected), 0, size - 1);
  }

 private:
  template <typename G>
  G low() const {
    return align_corners ? G(0) : G(-0.5);
  }
  template <typename G>
  G high(std::int64_t size) const {
    return static_cast<G>(size) - (align_corners ? G(1) : G(0.5));
  }
};

/// The elements along one axis that a position is made of.
template <typename W>
struct AxisTaps {
  std::size_t count = 1;
  std::array<std::int64_t, kMaxTaps> elements;  ///< -1: zero
  std::array<W, kMaxTaps> weights;

  template <typename G>
  AxisTaps(const SampleOptions& options, G position, std::int64_t size) {
    const G floor = std::floor(position);
    const W x = static_cast<W>(position - floor);
    std::int64_t first = static_cast<std::int64_t>(floor);
    if (options.mode == SampleMode::kNearest) {
      weights[0] = 1;
    } else if (options.mode == SampleMode::kLinear) {
      count = 2;
      weights = {1 - x, x};
    } else {
      count = 4;
      first -= 1;
      weights = {outer(1 + x), inner(x), inner(1 - x), outer(2 - x)};
    }
    for (std::size_t i = 0; i < count; ++i) elements[i] = options.element(first + static_cast<std::int64_t>(i), size);
  }

 private:
  // Keys's cubic kernel with a = -0.75, within one element and within two.
  static W inner(W x) { return ((kA + 2) * x - (kA + 3)) * x * x + 1; }
  static W outer(W x) { return ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA; }
  static constexpr W kA = W(-0.75);
};

/// The elements of one plane that an output is made of; zeros are left out.
template <typename W>
struct Neighbors {
  std::size_t count = 0;
  std::array<std::int64_t, kMaxNeighbors> offsets;
  std::array<W, kMaxNeighbors> weights;

  void start() {
    count = 1;
    offsets[0] = 0;
    weights[0] = 1;
  }
  /// Adds the next inner axis.
  void add(const AxisTaps<W>& taps, std::int64_t size) {
    const auto old_offsets = offsets;
    const auto old_weights = weights;
    const std::size_t old_count = count;
    count = 0;
    for (std::size_t i = 0; i < old_count; ++i) {
      for (std::size_t t = 0; t < taps.count; ++t) {
        if (taps.elements[t] < 0) continue;
        offsets[count] = old_offsets[i] * size + taps.elements[t];
        weights[count++] = old_weights[i] * taps.weights[t];
      }
    }
  }
};

class GridSampleKernel final : public Kernel {
 public:
  explicit GridSampleKernel(const NodeDesc& node) {
    const std::string mode = node.attributes->get_string("mode", "linear"),
                      padding = node.attributes->get_string("padding_mode", "zeros");
    if (mode == "nearest")
      options_.mode = SampleMode::kNearest;
    else if (mode == "cubic")
      options_.mode = SampleMode::kCubic;
    else if (mode != "linear")
      fail(ErrorCode::kInvalidModel, "attribute 'mode' of GridSample must be linear, nearest or cubic, found '{}'",
           mode);
    if (padding == "border")
      options_.padding = PaddingMode::kBorder;
    else if (padding == "reflection")
      options_.padding = PaddingMode::kReflection;
    else if (padding != "zeros")
      fail(ErrorCode::kInvalidModel,
           "attribute 'padding_mode' of GridSample must be zeros, border or reflection, found '{}'", padding);
    options_.align_corners = node.attributes->get_int("align_corners", 0) != 0;
  }

  Binding bind(const BindContext& context) const override { return {WideIo::workspace_bytes(context), {}}; }

  void run(RunContext& context) const override {
    const TensorView &x = context.input(0), &y = context.output(0);
    if (y.num_elements() == 0) return;
    if (x.shape.rank() - 2 > kMaxAxes)
      fail(ErrorCode::kUnsupported, "GridSample has no kernel for more than {} spatial axes", kMaxAxes);
    if (x.num_elements() == 0)
      fail(ErrorCode::kInvalidArgument, "GridSample can't sample data without elements, {}", x.shape.to_string());
    WideIo io(context, context.workspace());
    dispatch_wide(context.input(1).type, "GridSample", [&]<typename G>() {
      const G* grid = io.input<G>(1);
      if (options_.mode == SampleMode::kNearest) {
        dispatch_width(x.type, "GridSample", [&]<typename T>() {
          const T* in = static_cast<const T*>(x.data_ptr);
          T* out = static_cast<T*>(y.data_ptr);
          sample<G, float>(context, grid, [&](const Neighbors<float>& near, std::int64_t plane, std::int64_t at) {
            out[at] = near.count ? in[plane + near.offsets[0]] : T();
          });
        });
      } else {
        dispatch(NumberTypes{}, x.type, "GridSample", [&]<typename T>() {
          using W = InterpolationType<T>;
          const T* in = x.data<T>();
          T* out = y.mutable_data<T>();
          sample<G, W>(context, grid, [&](const Neighbors<W>& near, std::int64_t plane, std::int64_t at) {
            W total = 0;
            for (std::size_t i = 0; i < near.count; ++i)
              total += near.weights[i] * static_cast<W>(in[plane + near.offsets[i]]);
            out[at] = saturate_round<T>(std::is_integral_v<T> ? std::trunc(total) : total);
          });
        });
      }
    });
  }

 private:
  /// Calls store(neighbours, first element of the input plane, output element) for every output.
  template <typename G, typename W, typename Store>
  void sample(const RunContext& context, const G* grid, Store&& store) const {
    const Shape &x = context.input(0).shape, &y = context.output(0).shape;
    const std::size_t rank = x.rank() - 2;
    const std::int64_t plane = x.product(2, x.rank()), positions = y.product(2, y.rank()), channels = x[1];
    const auto cost = static_cast<std::size_t>(channels * 16);
    context.parallel.parallel_for(
        static_cast<std::size_t>(x[0] * positions), chunk_of(cost), [&](std::size_t begin, std::size_t end) {
          Neighbors<W> near;
          for (auto item = static_cast<std::int64_t>(begin); item < static_cast<std::int64_t>(end); ++item) {
            const G* point = grid + item * static_cast<std::int64_t>(rank);  // innermost axis first
            near.start();
            for (std::size_t i = 0; i < rank; ++i) {
              const std::int64_t size = x[i + 2];
              near.add(AxisTaps<W>(options_, options_.position(point[rank - 1 - i], size), size), size);
            }
            const std::int64_t n = item / positions, position = item % positions;
            for (std::int64_t c = 0; c < channels; ++c)
              store(near, (n * channels + c) * plane, (n * channels + c) * positions + position);
          }
        });
  }

  SampleOptions options_;
};

/// Positions evenly spaced in [-1, 1], through an affine matrix per batch item. Computed in double, rounded once.
class AffineGridKernel final : public Kernel {
 public:
  explicit AffineGridKernel(const NodeDesc& node) : align_corners_(node.attributes->get_int("align_corners", 0) != 0) {}

  void run(RunContext& context) const override {
    const TensorView &theta = context.input(0), &grid = context.output(0);
    const auto axes = static_cast<std::int64_t>(grid.shape.rank()) - 2;
    dispatch(FloatTypes{}, theta.type, "AffineGrid", [&]<typename T>() {
      const T* matrices = theta.data<T>();
      T* out = grid.mutable_data<T>();
      const std::int64_t positions = grid.shape.product(1, grid.shape.rank() - 1);
      context.parallel.parallel_for(
          static_cast<std::size_t>(grid.shape[0] * positions), 1024, [&](std::size_t begin, std::size_t end) {
            for (auto item = static_cast<std::int64_t>(begin); item < static_cast<std::int64_t>(end); ++item) {
              const T* matrix = matrices + item / positions * axes * (axes + 1);
              double point[3] = {};  // innermost axis first
              std::int64_t rest = item % positions;
              for (std::int64_t i = 0; i < axes; ++i) {
                const std::int64_t size = grid.shape[static_cast<std::size_t>(axes - i)];
                point[i] = coordinate(rest % size, size);
                rest /= size;
              }
              for (std::int64_t row = 0; row < axes; ++row) {
                double total = 0;
                for (std::int64_t i = 0; i < axes; ++i)
                  total += static_cast<double>(matrix[row * (axes + 1) + i]) * point[i];
                out[item * axes + row] = T(total + static_cast<double>(matrix[row * (axes + 1) + axes]));
              }
            }
          });
    });
  }

 private:
  double coordinate(std::int64_t i, std::int64_t size) const {
    const double at = static_cast<double>(i), length = static_cast<double>(size);
    if (align_corners_) return size > 1 ? -1 + at * 2 / (length - 1) : -1;
    return -1 + (2 * at + 1) / length;
  }

  bool align_corners_;
};

Support supports_grid_sample(const NodeDesc& node) {
  if (!is_one_of(FloatTypes{}, node.input_type(1))) return decline_type(node, 1);
  if (node.attributes->get_string("mode", "linear") == "nearest") return Support::accept();
  return is_one_of(NumberTypes{}, node.input_type(0)) ? Support::accept() : decline_type(node, 0);
}

}  // namespace

void add_grid_kernels(KernelTable& table) {
  table.push_back({"", "GridSample", supports_grid_sample, make<GridSampleKernel>});
  table.push_back({"", "AffineGrid", supports_float, make<AffineGridKernel>});
}

}  // namespace sardonyx::provider::cpu
