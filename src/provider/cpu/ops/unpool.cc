#include <cstring>

#include "ops/window.h"
#include "provider/cpu/dispatch.h"
#include "provider/cpu/ops/pool.h"
#include "provider/cpu/ops/wide_io.h"

namespace sardonyx::provider::cpu {
namespace {

/// Puts each element where its index says, in a tensor of zeros. Indices number the elements of the tensor that MaxPool
/// had; with output_shape, its positions are kept in the (larger) output.
class MaxUnpoolKernel final : public Kernel {
 public:
  explicit MaxUnpoolKernel(const NodeDesc& node) : attributes_(*node.attributes) {}

  void run(RunContext& context) const override {
    const TensorView &x = context.input(0), &indices = context.input(1), &y = context.output(0);
    const Shape source = pooled_from(x.shape);
    std::memset(y.mutable_bytes(), 0, y.num_bytes());
    dispatch_width(x.type, "MaxUnpool", [&]<typename T>() {
      const auto* at = indices.data<std::int64_t>();
      const auto* from = static_cast<const T*>(x.data_ptr);
      auto* to = static_cast<T*>(y.data_ptr);
      const std::int64_t limit = source.num_elements();
      for (std::int64_t i = 0; i < x.num_elements(); ++i) {
        if (at[i] < 0 || at[i] >= limit) {
          fail(ErrorCode::kInvalidArgument, "index {} of MaxUnpool is outside the {} elements of {}", at[i], limit,
               source.to_string());
        }
        const std::int64_t target = position(at[i], source, y.shape);
        if (target >= 0) to[target] = from[i];
      }
    });
  }

 private:
  Shape pooled_from(const Shape& x) const {
    const std::size_t spatial = x.rank() - 2;
    const auto window = ops::WindowAttributes::parse(attributes_, spatial);
    const std::vector<std::int64_t> kernel = ops::kernel_shape(attributes_, spatial);
    Shape source = x;
    for (std::size_t i = 0; i < spatial; ++i) {
      source[i + 2] = (x[i + 2] - 1) * window.strides[i] + kernel[i] - window.pads[i] - window.pads[spatial + i];
    }
    return source;
  }

  /// The same coordinates in `to`, or -1 when they lie outside.
  static std::int64_t position(std::int64_t index, const Shape& from, const Shape& to) {
    std::int64_t result = 0, stride = 1;
    for (std::size_t i = from.rank(); i-- > 0;) {
      const std::int64_t coordinate = index % from[i];
      if (coordinate >= to[i]) return -1;
      result += coordinate * stride;
      stride *= to[i];
      index /= from[i];
    }
    return result;
  }

  graph::Attributes attributes_;
};

}  // namespace

void add_unpool_kernels(KernelTable& table) {
  table.push_back({"", "MaxUnpool", supports_float, make<MaxUnpoolKernel>});
}

}  // namespace sardonyx::provider::cpu
