#include <algorithm>
#include <utility>

#include "provider/cpu/axis_split.h"
#include "provider/cpu/families.h"

namespace sardonyx::provider::cpu {
namespace {

/// A heap of element indices that lives in the output itself: slot i is slots[i * stride]. Its root is the element that
/// would be given up first. Elements are ordered by value, NaN above all, and equal values by index, lower ones first.
template <typename T>
class IndexHeap {
 public:
  IndexHeap(const T* values, std::int64_t* slots, std::int64_t stride, bool largest)
      : values_(values), slots_(slots), stride_(stride), largest_(largest) {}

  std::int64_t& slot(std::int64_t i) { return slots_[i * stride_]; }

  /// Whether element a ranks before element b in the result.
  bool before(std::int64_t a, std::int64_t b) const {
    using C = compute_type<T>;
    const C x = static_cast<C>(values_[a * stride_]), y = static_cast<C>(values_[b * stride_]);
    const bool x_nan = x != x, y_nan = y != y;
    if (x_nan || y_nan) return x_nan == y_nan ? a < b : x_nan == largest_;
    if (x == y) return a < b;
    return (x > y) == largest_;
  }

  /// Restores the heap below slot i, of `size` slots.
  void sift_down(std::int64_t i, std::int64_t size) {
    while (true) {
      std::int64_t worst = i;
      for (std::int64_t child = 2 * i + 1; child <= 2 * i + 2 && child < size; ++child) {
        if (before(slot(worst), slot(child))) worst = child;
      }
      if (worst == i) return;
      std::swap(slot(i), slot(worst));
      i = worst;
    }
  }

  /// Leaves the k best of n elements in the slots, best first.
  void select(std::int64_t k, std::int64_t n) {
    if (k == 0) return;
    for (std::int64_t i = 0; i < k; ++i) slot(i) = i;
    for (std::int64_t i = k / 2; i-- > 0;) sift_down(i, k);
    for (std::int64_t i = k; i < n; ++i) {
      if (!before(i, slot(0))) continue;
      slot(0) = i;
      sift_down(0, k);
    }
    for (std::int64_t size = k; size > 1; --size) {
      std::swap(slot(0), slot(size - 1));
      sift_down(0, size - 1);
    }
  }

 private:
  const T* values_;
  std::int64_t* slots_;
  std::int64_t stride_;
  bool largest_;
};

class TopKKernel final : public Kernel {
 public:
  explicit TopKKernel(const NodeDesc& node)
      : axis_(node.attributes->get_int("axis", -1)), largest_(node.attributes->get_int("largest", 1) != 0) {}

  Binding bind(const BindContext& shapes) const override {
    if (shapes.outputs.size() > 1 && shapes.outputs[1]) return {};
    return {.workspace_bytes = static_cast<std::size_t>(shapes.outputs[0]->num_elements()) * sizeof(std::int64_t)};
  }

  void run(RunContext& context) const override {
    const TensorView& x = context.input(0);
    const bool wants_values = context.wants_output(0);
    const TensorView& shape_of = wants_values ? context.output(0) : context.output(1);
    const AxisSplit split = split_at_axis(x.shape, axis_);
    const std::int64_t k = split_at_axis(shape_of.shape, axis_).length;
    auto* indices = context.wants_output(1) ? context.output(1).mutable_data<std::int64_t>()
                                            : reinterpret_cast<std::int64_t*>(context.workspace());
    dispatch(NumberTypes{}, x.type, "TopK", [&]<typename T>() {
      const T* in = x.data<T>();
      T* values = wants_values ? context.output(0).mutable_data<T>() : nullptr;
      const auto chunk =
          static_cast<std::size_t>(std::max<std::int64_t>(1, 4096 / std::max<std::int64_t>(1, split.length)));
      context.parallel.parallel_for(
          static_cast<std::size_t>(split.outer * split.inner), chunk, [&](std::size_t begin, std::size_t end) {
            for (auto u = static_cast<std::int64_t>(begin); u < static_cast<std::int64_t>(end); ++u) {
              const std::int64_t from = u / split.inner * split.length * split.inner + u % split.inner;
              const std::int64_t to = u / split.inner * k * split.inner + u % split.inner;
              IndexHeap<T>(in + from, indices + to, split.inner, largest_).select(k, split.length);
              for (std::int64_t i = 0; values && i < k; ++i)
                values[to + i * split.inner] = in[from + indices[to + i * split.inner] * split.inner];
            }
          });
    });
  }

 private:
  std::int64_t axis_;
  bool largest_;
};

Support supports_top_k(const NodeDesc& node) {
  return is_one_of(NumberTypes{}, node.input_type(0)) ? Support::accept() : decline_type(node, 0);
}

}  // namespace

void add_top_k_kernels(KernelTable& table) { table.push_back({"", "TopK", supports_top_k, make<TopKKernel>}); }

}  // namespace sardonyx::provider::cpu
