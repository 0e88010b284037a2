#include "ops/shape_util.h"

#include <algorithm>

#include "base/fail.h"

namespace sardonyx::ops {

Dim product(const std::vector<Dim>& dims, std::size_t from, std::size_t to) {
  Dim total(1);
  for (std::size_t i = from; i < to; ++i) total = total * dims[i];
  return total;
}

Dim product(const std::vector<Dim>& dims) { return product(dims, 0, dims.size()); }

Dim quotient(std::vector<Dim> a, std::vector<Dim> b) {
  for (auto divisor = b.begin(); divisor != b.end();) {
    const auto match = std::find(a.begin(), a.end(), *divisor);
    if (match == a.end()) {
      ++divisor;
      continue;
    }
    a.erase(match);
    divisor = b.erase(divisor);
  }
  return floor_div(product(a), product(b));
}

std::optional<std::size_t> known_length(const InferContext& context, std::size_t input) {
  if (!context.has_rank(input) || context.rank(input) != 1 || !context.dim(input, 0).is_constant()) return std::nullopt;
  return static_cast<std::size_t>(context.dim(input, 0).constant());
}

std::optional<std::vector<std::size_t>> axes_input(const InferContext& context, std::size_t input, std::size_t rank) {
  const auto values = context.int_values(input);
  if (!values) return std::nullopt;
  std::vector<std::size_t> axes;
  for (std::int64_t value : *values) {
    const std::size_t axis = context.axis(value, rank);
    if (std::find(axes.begin(), axes.end(), axis) != axes.end()) {
      fail(ErrorCode::kInvalidModel, "axis {} is given twice", value);
    }
    axes.push_back(axis);
  }
  return axes;
}

bool tracks_values(const ValueType& type) {
  return type.is_tensor() && type.has_rank && type.rank() <= 1 && is_integer(type.element);
}

}  // namespace sardonyx::ops
