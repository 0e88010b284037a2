#pragma once

#include <cstddef>

#include "base/thread_pool.h"
#include "kernels/reduce/reduce_table.h"

namespace sardonyx::kernels {

// Reductions of float tensors seen as [outer, n, inner], row-major, over n.
//
// inner == 1, the lane rule: element i goes to lane i mod 16, missing elements count as the operation's identity, lanes are
// folded l+8, l+4, l+2, l+1; blocks of 4,096 elements, whose results are combined in order. Otherwise one ascending chain per
// output, in the same blocks. So the result depends on neither instruction set nor threads, and elements that contribute the
// identity may be appended without changing a bit. Max and Min give NaN where an element is NaN.

/// y is [outer, inner]. n = 0 gives the identity (0, 1 for Prod, -+infinity for Max and Min, NaN for Mean).
void reduce(Reduction reduction, const float* x, std::size_t outer, std::size_t n, std::size_t inner, float* y,
            Parallel parallel = {});

/// Softmax and its logarithm over n: two passes after the maximum. y may be x. A row of only -infinity gives NaN.
void softmax(const float* x, std::size_t outer, std::size_t n, std::size_t inner, float* y, Parallel parallel = {});
void log_softmax(const float* x, std::size_t outer, std::size_t n, std::size_t inner, float* y, Parallel parallel = {});

}  // namespace sardonyx::kernels
