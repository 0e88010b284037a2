#pragma once

#include "ops/op_def.h"
#include "ops/op_list.h"

// Parts of families that fill more than one file; called by the family's own add function.
namespace sardonyx::ops {

void add_cast_ops(OpTable& table);        // cast.cc: Cast, CastLike, BitCast; part of elementwise
void add_integer_linalg_ops(OpTable& table);

}  // namespace sardonyx::ops
