#include "provider/cpu/reduce.h"

#include "base/fail.h"

namespace sardonyx::provider::cpu {

ReduceLayout::ReduceLayout(const Shape& shape, std::span<const bool> is_reduced) {
  std::int64_t stride = 1;
  int previous = -1;  // kind of the dimension inside this one
  for (std::size_t i = shape.rank(); i-- > 0;) {
    if (shape[i] == 1) continue;
    Group& group = is_reduced[i] ? reduced : kept;
    group.add(shape[i], stride, previous == static_cast<int>(is_reduced[i]));
    if (previous < 0) rows = is_reduced[i];
    previous = static_cast<int>(is_reduced[i]);
    stride *= shape[i];
  }
  if (previous < 0) {  // one element
    reduced.add(1, 1, false);
    rows = true;
  }
}

std::optional<ReduceLayout::Simple> ReduceLayout::simple() const {
  if (reduced.rank > 1 || kept.rank > 2) return std::nullopt;
  const std::int64_t n = reduced.rank == 1 ? reduced.dims[0] : 1;
  if (rows) return kept.rank > 1 ? std::nullopt : std::optional(Simple{kept.total, n, 1});
  const std::int64_t inner = kept.rank > 0 ? kept.dims[0] : 1;
  return Simple{kept.rank > 1 ? kept.dims[1] : 1, n, inner};
}

std::span<const bool> reduce_flags(const Shape& shape, const TensorView* axes, bool noop_with_empty_axes,
                                   std::span<bool> flags) {
  const std::size_t rank = shape.rank();
  if (rank > flags.size())
    fail(ErrorCode::kUnsupported, "reductions are limited to {} dimensions, found {}", flags.size(), rank);
  const std::int64_t count = axes ? axes->num_elements() : 0;
  std::fill_n(flags.begin(), rank, count == 0 && !noop_with_empty_axes);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t axis = axes->data<std::int64_t>()[i], n = static_cast<std::int64_t>(rank);
    if (axis < -n || axis >= n) fail(ErrorCode::kInvalidArgument, "axis {} is outside a tensor of rank {}", axis, rank);
    flags[static_cast<std::size_t>(axis < 0 ? axis + n : axis)] = true;
  }
  return flags.first(rank);
}

}  // namespace sardonyx::provider::cpu
