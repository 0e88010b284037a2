#include <algorithm>
#include <complex>
#include <numeric>
#include <string>
#include <vector>

#include "graph/attribute.h"
#include "provider/cpu/ops/element_mover.h"
#include "provider/cpu/ops/gather.h"
#include "provider/cpu/ops/strided_copy.h"

namespace sardonyx::provider::cpu {
namespace {

using UniqueTypes =
    Types<float, double, Half, BFloat16, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
          std::uint16_t, std::uint32_t, std::uint64_t, bool, std::string, std::complex<float>, std::complex<double>>;

/// -1, 0 or 1. NaN stands after every number and equals itself, so that this is an order.
template <typename T>
int compare(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
    const int real = compare(a.real(), b.real());
    return real != 0 ? real : compare(a.imag(), b.imag());
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return compare(static_cast<float>(a), static_cast<float>(b));
  } else {
    if (a < b) return -1;
    if (b < a) return 1;
    if constexpr (std::is_floating_point_v<T>) return static_cast<int>(a != a) - static_cast<int>(b != b);
    return 0;
  }
}

/// The tensor as `count` slices: slice i's elements are data[(o * count + i) * inner + j].
struct Slices {
  std::int64_t outer, count, inner;
};

/// Which slices stand for their equals, and who belongs to whom.
struct Groups {
  std::vector<std::int64_t> first;    // first occurrence of each group, in output order
  std::vector<std::int64_t> inverse;  // slice -> group
  std::vector<std::int64_t> counts;
};

template <typename T>
Groups group(const T* data, const Slices& slices, bool sorted) {
  const auto order_of = [&](std::int64_t a, std::int64_t b) {
    for (std::int64_t o = 0; o < slices.outer; ++o) {
      const T* x = data + (o * slices.count + a) * slices.inner;
      const T* y = data + (o * slices.count + b) * slices.inner;
      for (std::int64_t j = 0; j < slices.inner; ++j) {
        if (const int order = compare(x[j], y[j]); order != 0) return order;
      }
    }
    return 0;
  };
  std::vector<std::int64_t> order(static_cast<std::size_t>(slices.count));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return order_of(a, b) < 0; });
  Groups groups;
  groups.inverse.resize(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || order_of(order[i - 1], order[i]) != 0) {
      groups.first.push_back(order[i]);
      groups.counts.push_back(0);
    }
    ++groups.counts.back();
    groups.inverse[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(groups.first.size()) - 1;
  }
  if (sorted) return groups;
  std::vector<std::size_t> by_first(groups.first.size()), rank(groups.first.size());
  std::iota(by_first.begin(), by_first.end(), 0);
  std::sort(by_first.begin(), by_first.end(),
            [&](std::size_t a, std::size_t b) { return groups.first[a] < groups.first[b]; });
  Groups out;
  for (std::size_t i = 0; i < by_first.size(); ++i) {
    rank[by_first[i]] = i;
    out.first.push_back(groups.first[by_first[i]]);
    out.counts.push_back(groups.counts[by_first[i]]);
  }
  for (std::int64_t g : groups.inverse)
    out.inverse.push_back(static_cast<std::int64_t>(rank[static_cast<std::size_t>(g)]));
  return out;
}

class UniqueKernel final : public Kernel {
 public:
  explicit UniqueKernel(const NodeDesc& node)
      : flat_(!node.attributes->has("axis")),
        axis_(node.attributes->get_int("axis", 0)),
        sorted_(node.attributes->get_int("sorted", 1) != 0) {}

  void run(RunContext& context) const override {
    const TensorView& in = context.input(0);
    const std::size_t axis = flat_ ? 0 : normalized_axis(axis_, in.shape.rank());
    const Slices slices =
        flat_ ? Slices{1, in.num_elements(), 1}
              : Slices{in.shape.product(0, axis), in.shape[axis], in.shape.product(axis + 1, in.shape.rank())};
    Groups groups;
    dispatch(UniqueTypes{}, in.type, "Unique", [&]<typename T>() { groups = group(in.data<T>(), slices, sorted_); });
    const auto count = static_cast<std::int64_t>(groups.first.size());
    if (context.wants_output(0)) {
      Shape shape = flat_ ? Shape{count} : in.shape;
      if (!flat_) shape[axis] = count;
      const TensorView& out = context.allocate_output(0, shape);
      for (std::int64_t g = 0; g < count; ++g) {
        const std::int64_t from = groups.first[static_cast<std::size_t>(g)];
        strided_copy({{slices.outer, slices.inner},
                      {slices.count * slices.inner, 1},
                      {count * slices.inner, 1},
                      from * slices.inner,
                      g * slices.inner},
                     in.type, in.data_ptr, out.data_ptr, context.parallel);
      }
    }
    give(context, 1, groups.first);
    give(context, 2, groups.inverse);
    give(context, 3, groups.counts);
  }
  static Support supports(const NodeDesc& node) {
    return is_one_of(UniqueTypes{}, node.input_type(0)) ? Support::accept() : decline_type(node, 0);
  }

 private:
  static void give(const RunContext& context, std::size_t output, const std::vector<std::int64_t>& numbers) {
    if (!context.wants_output(output)) return;
    const TensorView& out =
        context.allocate_output(output, ElementType::kInt64, {static_cast<std::int64_t>(numbers.size())});
    std::copy(numbers.begin(), numbers.end(), out.mutable_data<std::int64_t>());
  }

  bool flat_;
  std::int64_t axis_;
  bool sorted_;
};

}  // namespace

void add_unique_kernels(KernelTable& table) {
  table.push_back({"", "Unique", UniqueKernel::supports, make<UniqueKernel>});
}

}  // namespace sardonyx::provider::cpu
