#include "provider/cpu/broadcast.h"

#include <algorithm>

#include "kernels/math/elementwise.h"

namespace sardonyx::provider::cpu {

void broadcast_float(const Parallel& parallel, kernels::Binary operation, const TensorView& a, const TensorView& b,
                     const TensorView& out) {
  const Broadcast<2> walk(out.shape, {&a.shape, &b.shape});
  const auto [step_a, step_b] = walk.inner_strides();
  using kernels::Operands;
  const float *left = a.data<float>(), *right = b.data<float>();
  float* to = out.mutable_data<float>();
  if (step_a == 0 && step_b == 0) {  // as when the first two of several operands are scalars: one result, many times
    return walk.for_each_run(parallel, [&](std::int64_t at, const auto& offset, std::int64_t count) {
      kernels::binary(operation, Operands::kArrays, left + offset[0], right + offset[1], to + at, 1);
      std::fill_n(to + at + 1, count - 1, to[at]);
    });
  }
  const Operands operands = step_a == 0 ? Operands::kScalarA : step_b == 0 ? Operands::kScalarB : Operands::kArrays;
  walk.for_each_run(parallel, [&](std::int64_t at, const auto& offset, std::int64_t count) {
    kernels::binary(operation, operands, left + offset[0], right + offset[1], to + at, static_cast<std::size_t>(count));
  });
}

}  // namespace sardonyx::provider::cpu
