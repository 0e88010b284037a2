#include "ops/infer_context.h"
#include "ops/op_list.h"

namespace sardonyx::ops {

void add_sequence_ops(OpTable&) {}

}  // namespace sardonyx::ops
