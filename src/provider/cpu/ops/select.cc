#include <algorithm>
#include <string>

#include "graph/attribute.h"
#include "provider/cpu/ops/element_mover.h"
#include "provider/cpu/ops/gather.h"
#include "provider/cpu/ops/strided_copy.h"

namespace sardonyx::provider::cpu {
namespace {

/// Depth is taken from the output, whose shape inference computed. An index outside [-depth, depth) gives a row without
/// a "on".
class OneHotKernel final : public ElementMover {
 public:
  explicit OneHotKernel(const NodeDesc& node) : axis_(node.attributes->get_int("axis", -1)) {}
  void move(RunContext& context) const override {
    const TensorView &indices = context.input(0), &values = context.input(2), &out = context.output(0);
    if (values.num_elements() != 2)
      fail(ErrorCode::kInvalidArgument, "values must be [off, on], found {} values", values.num_elements());
    const std::size_t axis = normalized_axis(axis_, out.shape.rank());
    const std::int64_t depth = out.shape[axis], inner = out.shape.product(axis + 1, out.shape.rank());
    dispatch_width(out.type, "OneHot", [&]<typename T>() {
      const T* pair = static_cast<const T*>(values.data_ptr);
      T* to = static_cast<T*>(out.data_ptr);
      std::fill(to, to + out.num_elements(), pair[0]);
      dispatch(NumberTypes{}, indices.type, "OneHot", [&]<typename Index>() {
        const Index* index = indices.data<Index>();
        for (std::int64_t i = 0; i < indices.num_elements(); ++i) {
          const std::int64_t at = position(index[i], depth);
          if (at >= 0) to[(i / inner * depth + at) * inner + i % inner] = pair[1];
        }
      });
    });
  }
  static Support supports(const NodeDesc& node) {
    return is_one_of(NumberTypes{}, node.input_type(0)) ? Support::accept() : decline_type(node, 0);
  }

 private:
  /// -1 where the index lies outside. Fractions are dropped.
  template <typename Index>
  static std::int64_t position(Index value, std::int64_t depth) {
    if constexpr (std::is_integral_v<Index>) {
      if constexpr (std::is_unsigned_v<Index>) {
        return value < static_cast<std::uint64_t>(depth) ? static_cast<std::int64_t>(value) : -1;
      } else {
        const std::int64_t index = value;
        return index < -depth || index >= depth ? -1 : index < 0 ? index + depth : index;
      }
    } else {
      const double index = static_cast<double>(value);
      if (!(index > -static_cast<double>(depth) - 1 && index < static_cast<double>(depth))) return -1;
      return position(static_cast<std::int64_t>(index), depth);
    }
  }
  std::int64_t axis_;
};

template <typename T>
bool is_non_zero(const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return !value.empty();
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return static_cast<float>(value) != 0;
  } else {
    return value != T(0);
  }
}

/// Coordinates of the elements that aren't zero (of strings, aren't empty), in row-major order: one row a dimension.
class NonZeroKernel final : public Kernel {
 public:
  explicit NonZeroKernel(const NodeDesc&) {}
  void run(RunContext& context) const override {
    const TensorView& in = context.input(0);
    dispatch(ElementTypes{}, in.type, "NonZero", [&]<typename T>() { find(context, in.data<T>(), in); });
  }
  static Support supports(const NodeDesc& node) {
    return is_one_of(ElementTypes{}, node.input_type(0)) ? Support::accept() : decline_type(node, 0);
  }

 private:
  using ElementTypes =
      Types<float, double, Half, BFloat16, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
            std::uint16_t, std::uint32_t, std::uint64_t, bool, std::string, std::complex<float>, std::complex<double>>;

  template <typename T>
  static void find(const RunContext& context, const T* data, const TensorView& in) {
    const std::int64_t n = in.num_elements();
    const auto rank = static_cast<std::int64_t>(in.shape.rank());
    const std::int64_t count = std::count_if(data, data + n, [](const T& value) { return is_non_zero(value); });
    if (!context.wants_output(0)) return;
    std::int64_t* out = context.allocate_output(0, {rank, count}).mutable_data<std::int64_t>();
    std::int64_t column = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      if (!is_non_zero(data[i])) continue;
      std::int64_t rest = i;
      for (std::int64_t d = rank; d-- > 0; rest /= in.shape[static_cast<std::size_t>(d)]) {
        out[d * count + column] = rest % in.shape[static_cast<std::size_t>(d)];
      }
      ++column;
    }
  }
};

/// The slices along an axis (without one: the elements) whose condition holds. A short condition leaves the rest out.
class CompressKernel final : public Kernel {
 public:
  explicit CompressKernel(const NodeDesc& node)
      : flat_(!node.attributes->has("axis")), axis_(node.attributes->get_int("axis", 0)) {}
  void run(RunContext& context) const override {
    const TensorView &in = context.input(0), &condition = context.input(1);
    const std::size_t axis = flat_ ? 0 : normalized_axis(axis_, in.shape.rank());
    const std::int64_t size = flat_ ? in.num_elements() : in.shape[axis];
    const std::int64_t inner = flat_ ? 1 : in.shape.product(axis + 1, in.shape.rank());
    const std::int64_t outer = flat_ ? 1 : in.shape.product(0, axis);
    const bool* holds = condition.data<bool>();
    const std::int64_t length = condition.num_elements();
    if (length > size && std::find(holds + size, holds + length, true) != holds + length) {
      fail(ErrorCode::kInvalidArgument, "the condition has {} elements, but the dimension has {}", length, size);
    }
    const std::int64_t considered = std::min(length, size);
    const std::int64_t kept = std::count(holds, holds + considered, true);
    Shape shape = flat_ ? Shape{kept} : in.shape;
    if (!flat_) shape[axis] = kept;
    if (!context.wants_output(0)) return;
    const TensorView& out = context.allocate_output(0, shape);
    std::int64_t to = 0;
    for (std::int64_t i = 0; i < considered; ++i) {
      if (!holds[i]) continue;
      strided_copy({{outer, inner}, {size * inner, 1}, {kept * inner, 1}, i * inner, to++ * inner}, in.type,
                   in.data_ptr, out.data_ptr, context.parallel);
    }
  }

 private:
  bool flat_;
  std::int64_t axis_;
};

}  // namespace

void add_select_kernels(KernelTable& table) {
  table.push_back({"", "OneHot", OneHotKernel::supports, make<OneHotKernel>});
  table.push_back({"", "NonZero", NonZeroKernel::supports, make<NonZeroKernel>});
  table.push_back({"", "Compress", always, make<CompressKernel>});
}

}  // namespace sardonyx::provider::cpu
