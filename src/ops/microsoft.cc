#include "ops/infer_context.h"
#include "ops/op_list.h"

namespace sardonyx::ops {
namespace {

/// Gelu(data + bias): data [..., n], bias [n].
void infer_bias_gelu(InferContext& context) {
  const ValueType& data = context.tensor(0);
  context.require(
      data.element == context.tensor(1).element,
      "data and bias must have one element type, found " + data.to_string() + " and " + context.input(1).to_string());
  context.require_rank(1, 1);
  context.set_like(0, 0);
  if (!data.has_rank || !context.has_rank(1)) return;
  context.require(data.rank() >= 1, "data must have rank 1 or more, found " + data.to_string());
  context.same(data.dims.back(), context.dim(1, 0), "the last dimension of the data and the length of the bias");
}

}  // namespace

void add_microsoft_ops(OpTable& table) {
  table.push_back({"com.microsoft", "BiasGelu", infer_bias_gelu, {.in_place = mask({0})}});
}

}  // namespace sardonyx::ops
