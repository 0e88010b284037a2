#include <algorithm>
#include <optional>
#include <vector>

#include "base/fail.h"
#include "ops/infer_context.h"
#include "ops/op_list.h"

namespace sardonyx::ops {
namespace {

void set_broadcast(InferContext& context, ElementType element) {
  const ValueType &a = context.tensor(0), &b = context.tensor(1);
  if (a.element != b.element) {
    fail(ErrorCode::kInvalidModel, "both inputs must have one element type, found {} and {}", a.to_string(),
         b.to_string());
  }
  if (!a.has_rank || !b.has_rank) return context.set_unranked(0, element);
  context.set_tensor(0, element, context.broadcast(a.dims, b.dims));
}

/// Bools of constants, as 0 and 1.
template <typename Fn>
void propagate_comparison(InferContext& context, Fn fn) {
  if (context.num_outputs() == 0) return;
  const ValueType& out = context.outputs()[0];
  if (!out.has_rank || out.rank() > 1 || !is_integer(context.element(0))) return;
  const auto a = context.values(0), b = context.values(1);
  if (!a || !b || a->empty() || b->empty()) return;
  std::vector<Dim> values;
  for (std::size_t i = 0; i < std::max(a->size(), b->size()); ++i) {
    const std::optional<bool> known = fn((*a)[a->size() == 1 ? 0 : i], (*b)[b->size() == 1 ? 0 : i]);
    if (!known) return;
    values.emplace_back(*known ? 1 : 0);
  }
  context.set_values(0, std::move(values));
}

void infer_comparison(InferContext& context) { set_broadcast(context, ElementType::kBool); }

void infer_equal(InferContext& context) {
  infer_comparison(context);
  propagate_comparison(context, [](const Dim& a, const Dim& b) -> std::optional<bool> {
    if (a == b) return true;
    if (a.is_constant() && b.is_constant()) return false;
    // A size is never negative, so that `dim == -1`, which exporters write for Expand, is decided here.
    if ((a.is_never_negative() && b.is_constant() && b.constant() < 0) ||
        (b.is_never_negative() && a.is_constant() && a.constant() < 0))
      return false;
    return std::nullopt;
  });
}

void infer_logical(InferContext& context) {
  set_broadcast(context, ElementType::kBool);
  context.require(context.element(0) == ElementType::kBool,
                  "the inputs must be bool, found " + context.input(0).to_string());
}

void infer_not(InferContext& context) {
  context.require(context.tensor(0).element == ElementType::kBool,
                  "the input must be bool, found " + context.input(0).to_string());
  context.set_like(0, 0);
}

void infer_bitwise(InferContext& context) { set_broadcast(context, context.tensor(0).element); }
void infer_same(InferContext& context) { context.set_like(0, 0); }
void infer_is(InferContext& context) { context.set_like(0, 0, ElementType::kBool); }

}  // namespace

void add_logic_ops(OpTable& table) {
  const OpTraits both{.in_place = mask({0, 1})};
  table.push_back({"", "Equal", infer_equal, {}});
  for (const char* name : {"Less", "LessOrEqual", "Greater", "GreaterOrEqual"})
    table.push_back({"", name, infer_comparison, {}});
  for (const char* name : {"And", "Or", "Xor"}) table.push_back({"", name, infer_logical, both});
  for (const char* name : {"BitwiseAnd", "BitwiseOr", "BitwiseXor"}) table.push_back({"", name, infer_bitwise, both});
  table.push_back({"", "Not", infer_not, {.in_place = mask({0})}});
  table.push_back({"", "BitwiseNot", infer_same, {.in_place = mask({0})}});
  table.push_back({"", "IsNaN", infer_is, {}});
  table.push_back({"", "IsInf", infer_is, {}});
}

}  // namespace sardonyx::ops
