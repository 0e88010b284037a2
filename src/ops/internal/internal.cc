#include "ops/infer_context.h"
#include "ops/op_list.h"

namespace sardonyx::ops {
namespace {

void infer_copy(InferContext& context) { context.set_output(0, context.input(0)); }

}  // namespace

void add_internal_ops(OpTable& table) {
  // The same bytes in the memory of the provider that attribute `to` names; put in by placement, run by the runtime.
  table.push_back({"ai.sardonyx", "Copy", infer_copy, {}});
}

}  // namespace sardonyx::ops
