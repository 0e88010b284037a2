#include <algorithm>
#include <string>
#include <type_traits>

#include "graph/attribute.h"
#include "provider/cpu/ops/element_mover.h"
#include "provider/cpu/ops/gather.h"
#include "provider/cpu/ops/strided_copy.h"

namespace sardonyx::provider::cpu {
namespace {

enum class Reduction { kNone, kAdd, kMul, kMax, kMin };

Reduction parse_reduction(const NodeDesc& node) {
  const std::string text = node.attributes->get_string("reduction", "none");
  if (text == "none") return Reduction::kNone;
  if (text == "add") return Reduction::kAdd;
  if (text == "mul") return Reduction::kMul;
  if (text == "max") return Reduction::kMax;
  if (text == "min") return Reduction::kMin;
  fail(ErrorCode::kInvalidModel, "attribute 'reduction' must be none, add, mul, max or min, found {}", text);
}

using ReducibleTypes = Types<float, double, Half, BFloat16, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                             std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, bool>;

Support supports_scatter(const NodeDesc& node) {
  if (node.attributes->get_string("reduction", "none") == "none") return Support::accept();
  return is_one_of(ReducibleTypes{}, node.input_type(0)) ? Support::accept() : decline_type(node, 0);
}

/// old <- old (reduction) update. Integers wrap; NaN wins over numbers in max and min.
template <Reduction R, typename T>
void combine(T& old, const T& update) {
  if constexpr (R == Reduction::kNone) {
    old = update;
  } else if constexpr (std::is_same_v<T, bool>) {
    old = R == Reduction::kAdd || R == Reduction::kMax ? old || update : old && update;
  } else if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    if constexpr (R == Reduction::kAdd) old = static_cast<T>(static_cast<U>(old) + static_cast<U>(update));
    if constexpr (R == Reduction::kMul)
      old = static_cast<T>(static_cast<std::uint64_t>(old) * static_cast<std::uint64_t>(update));
    if constexpr (R == Reduction::kMax) old = std::max(old, update);
    if constexpr (R == Reduction::kMin) old = std::min(old, update);
  } else {
    using C = compute_type<T>;
    const C a = static_cast<C>(old), b = static_cast<C>(update);
    if constexpr (R == Reduction::kAdd) old = T(a + b);
    if constexpr (R == Reduction::kMul) old = T(a * b);
    if constexpr (R == Reduction::kMax) old = a > b || a != a ? old : update;
    if constexpr (R == Reduction::kMin) old = a < b || a != a ? old : update;
  }
}

/// Calls fn.template operator()<T, R>(): elements by width where they are only moved, by type where they are combined.
template <typename Fn>
void dispatch_reduction(Reduction reduction, ElementType type, std::string_view op, Fn&& fn) {
  if (reduction == Reduction::kNone)
    return dispatch_width(type, op, [&]<typename T>() { fn.template operator()<T, Reduction::kNone>(); });
  dispatch(ReducibleTypes{}, type, op, [&]<typename T>() {
    switch (reduction) {
      case Reduction::kAdd: return fn.template operator()<T, Reduction::kAdd>();
      case Reduction::kMul: return fn.template operator()<T, Reduction::kMul>();
      case Reduction::kMax: return fn.template operator()<T, Reduction::kMax>();
      case Reduction::kMin: return fn.template operator()<T, Reduction::kMin>();
      case Reduction::kNone: break;
    }
  });
}

/// Updates are applied in their order, so that a repeated index has one meaning: the last wins, or sums in order.
class ScatterElementsKernel final : public ElementMover {
 public:
  explicit ScatterElementsKernel(const NodeDesc& node)
      : axis_(node.attributes->get_int("axis", 0)), reduction_(parse_reduction(node)) {}
  void move(RunContext& context) const override {
    const TensorView &data = context.input(0), &indices = context.input(1), &updates = context.input(2),
                     &out = context.output(0);
    copy_elements(data, out, context.parallel);
    const std::size_t rank = data.shape.rank(), axis = normalized_axis(axis_, rank);
    const Shape &shape = indices.shape, strides = dense_strides(data.shape);
    for (std::size_t i = 0; i < rank; ++i) {
      if (i != axis && shape[i] > data.shape[i]) {
        fail(ErrorCode::kInvalidArgument, "indices of shape {} reach outside data of shape {}", shape.to_string(),
             data.shape.to_string());
      }
    }
    dispatch(IndexTypes{}, indices.type, "ScatterElements", [&]<typename Index>() {
      dispatch_reduction(reduction_, data.type, "ScatterElements", [&]<typename T, Reduction R>() {
        scatter<Index, T, R>(indices, updates, out, axis, strides);
      });
    });
  }

 private:
  template <typename Index, typename T, Reduction R>
  static void scatter(const TensorView& indices, const TensorView& updates, const TensorView& out, std::size_t axis,
                      const Shape& strides) {
    const Index* index = indices.data<Index>();
    const T* from = static_cast<const T*>(updates.data_ptr);
    T* to = static_cast<T*>(out.data_ptr);
    const std::int64_t n = indices.num_elements(), size = out.shape[axis];
    for (std::int64_t i = 0; i < n; ++i) {
      std::int64_t at = checked_index(index[i], size) * strides[axis], rest = i;
      for (std::size_t d = indices.shape.rank(); d-- > 0; rest /= indices.shape[d]) {
        if (d != axis) at += rest % indices.shape[d] * strides[d];
      }
      combine<R>(to[at], from[i]);
    }
  }

  std::int64_t axis_;
  Reduction reduction_;
};

class ScatterNDKernel final : public ElementMover {
 public:
  explicit ScatterNDKernel(const NodeDesc& node) : reduction_(parse_reduction(node)) {}
  void move(RunContext& context) const override {
    const TensorView &data = context.input(0), &indices = context.input(1), &updates = context.input(2),
                     &out = context.output(0);
    copy_elements(data, out, context.parallel);
    const auto depth = static_cast<std::size_t>(indices.shape[indices.shape.rank() - 1]);
    if (depth > data.shape.rank()) {
      fail(ErrorCode::kInvalidArgument, "indices index {} dimensions of data of shape {}", depth, data.shape.to_string());
    }
    const std::int64_t tuples = indices.shape.product(0, indices.shape.rank() - 1);
    const std::int64_t block = data.shape.product(depth, data.shape.rank());
    if (updates.num_elements() != tuples * block) {
      fail(ErrorCode::kInvalidArgument, "updates of shape {} don't fit indices of shape {} into data of shape {}",
           updates.shape.to_string(), indices.shape.to_string(), data.shape.to_string());
    }
    const Shape strides = dense_strides(data.shape);
    dispatch(IndexTypes{}, indices.type, "ScatterND", [&]<typename Index>() {
      const Index* index = indices.data<Index>();
      dispatch_reduction(reduction_, data.type, "ScatterND", [&]<typename T, Reduction R>() {
        const T* from = static_cast<const T*>(updates.data_ptr);
        T* to = static_cast<T*>(out.data_ptr);
        for (std::int64_t i = 0; i < tuples; ++i) {
          std::int64_t at = 0;
          for (std::size_t d = 0; d < depth; ++d, ++index) at += checked_index(*index, data.shape[d]) * strides[d];
          for (std::int64_t j = 0; j < block; ++j) combine<R>(to[at + j], from[i * block + j]);
        }
      });
    });
  }

 private:
  Reduction reduction_;
};

/// Writes `update` into a cache at each batch row's own position.
class TensorScatterKernel final : public ElementMover {
 public:
  explicit TensorScatterKernel(const NodeDesc& node) : axis_(node.attributes->get_int("axis", -2)) {
    const std::string mode = node.attributes->get_string("mode", "linear");
    if (mode != "linear" && mode != "circular")
      fail(ErrorCode::kInvalidModel, "attribute 'mode' must be linear or circular, found {}", mode);
    circular_ = mode == "circular";
  }
  void move(RunContext& context) const override {
    const TensorView &cache = context.input(0), &update = context.input(1), &out = context.output(0);
    copy_elements(cache, out, context.parallel);
    const std::size_t axis = normalized_axis(axis_, cache.shape.rank());
    const std::int64_t length = cache.shape[axis], steps = update.shape[axis], batch = cache.shape[0];
    const std::int64_t block = cache.shape.product(axis + 1, cache.shape.rank()), outer = cache.shape.product(1, axis);
    const std::int64_t* at = context.has_input(2) ? context.input(2).data<std::int64_t>() : nullptr;
    if (at && context.input(2).num_elements() != batch)
      fail(ErrorCode::kInvalidArgument, "write_indices must have {} numbers", batch);
    if (steps > length)
      fail(ErrorCode::kInvalidArgument, "the update has {} steps, but the cache holds {}", steps, length);
    if (length == 0) return;
    for (std::int64_t b = 0; b < batch; ++b) {
      std::int64_t first = at ? at[b] : 0;
      if (circular_) first = (first % length + length) % length;
      if (first < 0 || (!circular_ && first > length - steps)) {
        fail(ErrorCode::kInvalidArgument, "write index {} leaves no room for {} steps in a cache of {}", first, steps,
             length);
      }
      const std::int64_t straight = std::min(steps, length - first);
      const auto write = [&](std::int64_t count, std::int64_t from, std::int64_t to) {
        strided_copy({{outer, count * block},
                      {steps * block, 1},
                      {length * block, 1},
                      (b * outer * steps + from) * block,
                      (b * outer * length + to) * block},
                     out.type, update.data_ptr, out.data_ptr, context.parallel);
      };
      write(straight, 0, first);
      if (straight < steps) write(steps - straight, straight, 0);
    }
  }

 private:
  std::int64_t axis_;
  bool circular_ = false;
};

}  // namespace

void add_scatter_kernels(KernelTable& table) {
  table.push_back({"", "ScatterElements", supports_scatter, make<ScatterElementsKernel>});
  table.push_back({"", "ScatterND", supports_scatter, make<ScatterNDKernel>});
  table.push_back({"", "TensorScatter", always, make<TensorScatterKernel>});
}

}  // namespace sardonyx::provider::cpu
