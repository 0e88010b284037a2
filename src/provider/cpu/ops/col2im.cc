#include <complex>
#include <type_traits>

#include "ops/infer_context.h"
#include "provider/cpu/ops/axis_view.h"
#include "provider/cpu/ops/conv.h"
#include "provider/cpu/ops/conv_geometry.h"
#include "provider/cpu/ops/wide_io.h"

namespace sardonyx::provider::cpu {
namespace {

using Col2ImTypes =
    Types<float, double, Half, BFloat16, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
          std::uint16_t, std::uint32_t, std::uint64_t, bool, std::complex<float>, std::complex<double>>;

/// a + b: wrapping for integers, "or" for bool, in float for the 16-bit floats.
template <typename T>
T sum(T a, T b) {
  if constexpr (std::is_same_v<T, bool>)
    return a || b;
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  else if constexpr (std::is_same_v<compute_type<T>, T>)
    return a + b;
  else
    return T(static_cast<float>(a) + static_cast<float>(b));
}

/// Sums the columns of blocks back into an image; one plane (batch item and channel) at a time.
template <typename T>
void scatter_plane(const ConvGeometry& geometry, const T* columns, T* image) {
  std::fill_n(image, geometry.in_size, T());
  for (std::int64_t tap = 0; tap < geometry.taps; ++tap) {
    for (std::int64_t block = 0; block < geometry.out_size; ++block) {
      std::int64_t offset = 0, stride = 1, window = block, rest = tap;
      for (std::size_t i = geometry.axes.size(); i-- > 0 && offset >= 0;) {
        const SpatialAxis& axis = geometry.axes[i];
        const std::int64_t at = axis.position(window % axis.out, rest % axis.kernel);
        offset = at < 0 || at >= axis.in ? -1 : offset + at * stride;
        stride *= axis.in;
        window /= axis.out;
        rest /= axis.kernel;
      }
      if (offset >= 0) image[offset] = sum(image[offset], columns[tap * geometry.out_size + block]);
    }
  }
}

class Col2ImKernel final : public Kernel {
 public:
  explicit Col2ImKernel(const NodeDesc& node) : attributes_(*node.attributes) {}

  void run(RunContext& context) const override {
    const TensorView &columns = context.input(0), &image = context.output(0);
    const ConvGeometry geometry = describe(columns.shape, image.shape, ops::to_int64s(context.input(2)));
    const std::int64_t planes = image.shape[0] * image.shape[1];
    dispatch(Col2ImTypes{}, columns.type, "Col2Im", [&]<typename T>() {
      const T* from = columns.data<T>();
      T* to = image.mutable_data<T>();
      context.parallel.parallel_for(static_cast<std::size_t>(planes), 1, [&](std::size_t begin, std::size_t end) {
        for (auto plane = static_cast<std::int64_t>(begin); plane < static_cast<std::int64_t>(end); ++plane) {
          scatter_plane(geometry, from + plane * geometry.taps * geometry.out_size, to + plane * geometry.in_size);
        }
      });
    });
  }

 private:
  /// The image as a convolution's data, the blocks as its windows.
  ConvGeometry describe(const Shape& columns, const Shape& image, const std::vector<std::int64_t>& block) const {
    const std::size_t spatial = image.rank() - 2;
    const auto window = ops::WindowAttributes::parse(attributes_, spatial);
    Shape windows = image;
    std::int64_t taps = 1;
    for (std::size_t i = 0; i < spatial; ++i) {
      if (block[i] < 1) fail(ErrorCode::kInvalidModel, "block_shape has the element {}; it must be positive", block[i]);
      windows[i + 2] = window.output(i, image[i + 2], block[i]).constant();
      taps *= block[i];
    }
    if (columns[1] % taps != 0 || columns[2] != windows.product(2, windows.rank())) {
      fail(ErrorCode::kInvalidArgument,
           "columns of shape {} do not fit image {} with blocks of {} elements: expected [N, C*{}, {}]",
           columns.to_string(), image.to_string(), taps, taps, windows.product(2, windows.rank()));
    }
    return ConvGeometry::make(window, image, windows, block, 1);
  }

  graph::Attributes attributes_;
};

Support supports_col2im(const NodeDesc& node) {
  return is_one_of(Col2ImTypes{}, node.input_type(0)) ? Support::accept() : decline_type(node, 0);
}

}  // namespace

void add_col2im_kernels(KernelTable& table) { table.push_back({"", "Col2Im", supports_col2im, make<Col2ImKernel>}); }

}  // namespace sardonyx::provider::cpu
