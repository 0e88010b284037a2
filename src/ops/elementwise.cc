#include "ops/infer_context.h"
#include "ops/op_list.h"

namespace sardonyx::ops {
namespace {

void infer_unary(InferContext& context) { context.set_like(0, 0); }

/// Binary operators that broadcast and keep the element type; integer operands keep their values known.
void infer_binary(InferContext& context) {
  const ValueType &a = context.tensor(0), &b = context.tensor(1);
  context.require(a.element == b.element, "both inputs must have one element type, found " + a.to_string() + " and " + b.to_string());
  if (!a.has_rank || !b.has_rank) return context.set_unranked(0, a.element);
  context.set_tensor(0, a.element, context.broadcast(a.dims, b.dims));
}

}  // namespace

void add_elementwise_ops(OpTable& table) {
  table.push_back({"", "Relu", infer_unary, {.in_place = mask({0})}});
  table.push_back({"", "Add", infer_binary, {.in_place = mask({0, 1})}});
}

}  // namespace sardonyx::ops
