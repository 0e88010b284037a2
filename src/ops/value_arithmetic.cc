#include "ops/value_arithmetic.h"

#include <cstdint>
#include <limits>
#include <utility>

#include "sardonyx/error.h"

namespace sardonyx::ops {
namespace {

bool both_constant(const Dim& a, const Dim& b) { return a.is_constant() && b.is_constant(); }

bool fits(const Dim& dim, ElementType type) {
  if (!dim.is_constant() || type == ElementType::kInt64) return true;
  return dim.constant() >= std::numeric_limits<std::int32_t>::min() &&
         dim.constant() <= std::numeric_limits<std::int32_t>::max();
}

}  // namespace

void propagate_binary(InferContext& context, std::size_t a, std::size_t b, DimFn fn) {
  if (context.num_outputs() == 0) return;
  const ValueType& out = context.outputs()[0];
  if (out.element != ElementType::kInt64 && out.element != ElementType::kInt32) return;
  if (!out.has_rank || out.rank() > 1) return;
  const auto left = context.values(a), right = context.values(b);
  if (!left || !right) return;
  if (left->size() != right->size() && left->size() != 1 && right->size() != 1) return;
  const std::size_t count = left->size() == 1 ? right->size() : left->size();
  std::vector<Dim> values;
  for (std::size_t i = 0; i < count; ++i) {
    std::optional<Dim> value = fn((*left)[left->size() == 1 ? 0 : i], (*right)[right->size() == 1 ? 0 : i]);
    if (!value || !fits(*value, out.element)) return;
    values.push_back(std::move(*value));
  }
  context.set_values(0, std::move(values));
}

namespace {

/// Values may overflow where sizes may not, and grow into expressions that are of no use: both are simply not known.
template <typename Fn>
std::optional<Dim> attempt(const Dim& a, const Dim& b, Fn fn) {
  if (a.complexity() + b.complexity() > kMostComplex) return std::nullopt;
  try {
    return fn();
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

std::optional<Dim> dim_add(const Dim& a, const Dim& b) {
  std::int64_t result = 0;
  if (both_constant(a, b) && __builtin_add_overflow(a.constant(), b.constant(), &result)) return std::nullopt;
  return attempt(a, b, [&] { return a + b; });
}

std::optional<Dim> dim_sub(const Dim& a, const Dim& b) {
  std::int64_t result = 0;
  if (both_constant(a, b) && __builtin_sub_overflow(a.constant(), b.constant(), &result)) return std::nullopt;
  if (b.is(std::numeric_limits<std::int64_t>::min())) return std::nullopt;
  return attempt(a, b, [&] { return a - b; });
}

std::optional<Dim> dim_mul(const Dim& a, const Dim& b) {
  std::int64_t result = 0;
  if (both_constant(a, b) && __builtin_mul_overflow(a.constant(), b.constant(), &result)) return std::nullopt;
  return attempt(a, b, [&] { return a * b; });
}

std::optional<Dim> dim_div(const Dim& a, const Dim& b) {
  if (b.is(0)) return std::nullopt;
  if (both_constant(a, b)) {
    if (b.constant() == -1 && a.constant() == std::numeric_limits<std::int64_t>::min()) return std::nullopt;
    return Dim(a.constant() / b.constant());
  }
  if (a.is_never_negative() && b.is_never_negative()) return graph::floor_div(a, b);
  if (!b.is_constant() || b.constant() < 0) return std::nullopt;
  return attempt(a, b, [&] { return graph::max(graph::floor_div(a, b), 0) + graph::min(graph::ceil_div(a, b), 0); });
}

std::optional<Dim> dim_mod(const Dim& a, const Dim& b) {
  if (!both_constant(a, b) || b.is(0) || b.is(-1)) return std::nullopt;
  const std::int64_t rest = a.constant() % b.constant();
  return Dim(rest != 0 && (rest < 0) != (b.constant() < 0) ? rest + b.constant() : rest);
}

std::optional<Dim> dim_min(const Dim& a, const Dim& b) {
  return attempt(a, b, [&] { return graph::min(a, b); });
}
std::optional<Dim> dim_max(const Dim& a, const Dim& b) {
  return attempt(a, b, [&] { return graph::max(a, b); });
}

}  // namespace sardonyx::ops
