#include "optimizer/gradient/builder.h"

#include <numeric>
#include <utility>

namespace sardonyx::optimizer {

using graph::Attributes;
using graph::ValueId;
using graph::ValueType;

ValueId GradientBuilder::ints(const std::vector<std::int64_t>& values) {
  return model_.add_constant_value(graph_, graph_.node(before_).name + "/ints",
                                   Tensor::from<std::int64_t>({static_cast<std::int64_t>(values.size())}, values));
}

ValueId GradientBuilder::number(float value, ValueId like) {
  const ValueId scalar =
      model_.add_constant_value(graph_, graph_.node(before_).name + "/number", Tensor::scalar<float>(value));
  return add("CastLike", {scalar, like});
}

ValueId GradientBuilder::filled_like(ValueId like, float value) {
  return add("Expand", {number(value, like), add("Shape", {like})});
}

ValueId GradientBuilder::transposed(ValueId x, std::size_t rank) {
  std::vector<std::int64_t> perm(rank);
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[rank - 1], perm[rank - 2]);
  Attributes attributes;
  attributes.set("perm", std::move(perm));
  return add("Transpose", {x}, std::move(attributes));
}

std::optional<std::vector<std::int64_t>> GradientBuilder::broadcast_axes(const ValueType& from, const ValueType& to) {
  if (!from.has_rank || !to.has_rank || to.rank() > from.rank()) return std::nullopt;
  const std::size_t missing = from.rank() - to.rank();
  std::vector<std::int64_t> axes(missing);
  std::iota(axes.begin(), axes.end(), 0);
  for (std::size_t i = missing; i < from.rank(); ++i) {
    const graph::Dim &wide = from.dims[i], &narrow = to.dims[i - missing];
    if (wide == narrow) continue;
    if (!narrow.is(1)) return std::nullopt;
    axes.push_back(static_cast<std::int64_t>(i));
  }
  return axes;
}

ValueId GradientBuilder::reduce(ValueId value, ValueId axes, ValueId like) {
  Attributes summing, shaping;
  summing.set("keepdims", std::int64_t{1});
  summing.set("noop_with_empty_axes", std::int64_t{1});
  shaping.set("allowzero", std::int64_t{1});
  return add("Reshape", {add("ReduceSum", {value, axes}, summing), add("Shape", {like})}, shaping);
}

ValueId GradientBuilder::sum_to(ValueId value, ValueId shaped_as, ValueId like) {
  const auto axes = broadcast_axes(type(shaped_as), type(like));
  if (!axes) return sum_to(value, like);
  return axes->empty() ? value : reduce(value, ints(*axes), like);
}

ValueId GradientBuilder::sum_to(ValueId value, ValueId like) {
  // `like`'s shape with ones in front; where that differs from the value's, it was broadcast.
  const ValueId wide = add("Shape", {value}), narrow = add("Shape", {like});
  Attributes ones, along;
  const std::int64_t one = 1;
  ones.set("value", Tensor::from<std::int64_t>({1}, std::span(&one, 1)));
  along.set("axis", std::int64_t{0});
  const ValueId front = add("ConstantOfShape", {add("Sub", {add("Shape", {wide}), add("Shape", {narrow})})}, ones);
  const ValueId differs = add("Not", {add("Equal", {wide, add("Concat", {front, narrow}, along)})});
  return reduce(value, add("Reshape", {add("NonZero", {differs}), ints({-1})}), like);
}

}  // namespace sardonyx::optimizer
