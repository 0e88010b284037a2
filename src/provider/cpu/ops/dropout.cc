#include <algorithm>
#include <cstring>
#include <random>

#include "provider/cpu/dispatch.h"
#include "provider/cpu/ops/norm.h"

namespace sardonyx::provider::cpu {
namespace {

using DropoutTypes = Types<float, double, Half, BFloat16, Float8E4M3FN, Float8E4M3FNUZ, Float8E5M2, Float8E5M2FNUZ>;

template <typename T>
struct WideOf {
  using type = float;
};
template <>
struct WideOf<double> {
  using type = double;
};

/// Identity outside training. In training mode the elements that a 53-bit uniform number of MT19937 (seeded as NumPy's
/// RandomState) puts below the ratio become 0, and the others are scaled by 1 / (1 - ratio).
class DropoutKernel final : public Kernel {
 public:
  explicit DropoutKernel(const NodeDesc& node)
      : seeded_(node.attributes->has("seed")), seed_(static_cast<std::uint32_t>(node.attributes->get_int("seed", 0))) {}

  void run(RunContext& context) const override {
    const TensorView& x = context.input(0);
    const TensorView* y = context.wants_output(0) ? &context.output(0) : nullptr;
    bool* mask = context.wants_output(1) ? context.output(1).mutable_data<bool>() : nullptr;
    const bool training = context.has_input(2) && scalar(context.input(2), "training_mode") != 0;
    const double ratio = context.has_input(1) ? scalar(context.input(1), "ratio") : 0.5;
    if (!training || ratio == 0) {
      if (mask) std::fill_n(mask, x.num_elements(), true);
      if (y && x.data_ptr != y->data_ptr && x.num_bytes() != 0)
        std::memcpy(y->mutable_bytes(), x.bytes(), x.num_bytes());
      return;
    }
    if (!(ratio > 0 && ratio < 1))
      fail(ErrorCode::kInvalidArgument, "the ratio of Dropout must be in [0, 1), found {}", ratio);
    dispatch(DropoutTypes{}, x.type, "Dropout", [&]<typename T>() {
      drop(x.data<T>(), y ? y->mutable_data<T>() : nullptr, mask, ratio, x.num_elements());
    });
  }

 private:
  static double scalar(const TensorView& tensor, const char* what) {
    if (tensor.num_elements() != 1)
      fail(ErrorCode::kInvalidArgument, "{} of Dropout must have one element, found {}", what,
           tensor.shape.to_string());
    if (tensor.type == ElementType::kBool) return *tensor.data<bool>() ? 1 : 0;
    double value = 0;
    dispatch(DropoutTypes{}, tensor.type, "Dropout", [&]<typename T>() {
      value = static_cast<double>(static_cast<typename WideOf<T>::type>(*tensor.data<T>()));
    });
    return value;
  }

  template <typename T>
  void drop(const T* x, T* y, bool* mask, double ratio, std::int64_t count) const {
    using Wide = typename WideOf<T>::type;
    std::mt19937 generator(seeded_ ? seed_ : std::random_device{}());
    const Wide scale = Wide(1) / (Wide(1) - static_cast<Wide>(ratio));
    for (std::int64_t i = 0; i < count; ++i) {
      const std::uint32_t high = static_cast<std::uint32_t>(generator()) >> 5,
                          low = static_cast<std::uint32_t>(generator()) >> 6;
      const double uniform = (high * 67108864.0 + low) / 9007199254740992.0;
      const bool keep = uniform >= ratio;
      if (y) y[i] = T(keep ? static_cast<Wide>(x[i]) * scale : Wide(0));
      if (mask) mask[i] = keep;
    }
  }

  bool seeded_;
  std::uint32_t seed_;
};

Support supports_dropout(const NodeDesc& node) {
  return is_one_of(DropoutTypes{}, node.input_type(0)) ? Support::accept() : decline_type(node, 0);
}

}  // namespace

void add_dropout_kernels(KernelTable& table) {
  table.push_back({"", "Dropout", supports_dropout, make<DropoutKernel>});
}

}  // namespace sardonyx::provider::cpu
