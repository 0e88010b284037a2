#include "provider/cpu/matmul_plan.h"

#include <algorithm>
#include <utility>

namespace sardonyx::provider::cpu {
namespace {

/// Offsets, in matrices, of an operand's matrix for every matrix of the output.
std::vector<std::size_t> batch_offsets(const Shape& operand, const Shape& output, std::size_t matrix_size) {
  std::vector<std::size_t> offsets{0};
  std::size_t stride = matrix_size;
  const std::size_t missing = output.rank() - operand.rank();
  for (std::size_t i = output.rank(); i-- > 0;) {
    const auto count = static_cast<std::size_t>(output[i]);
    const std::size_t step = i < missing || operand[i - missing] == 1 ? 0 : stride;
    std::vector<std::size_t> next;
    next.reserve(count * offsets.size());
    for (std::size_t j = 0; j < count; ++j) {
      for (std::size_t offset : offsets) next.push_back(j * step + offset);
    }
    offsets = std::move(next);
    if (i >= missing) stride *= static_cast<std::size_t>(operand[i - missing]);
  }
  return offsets;
}

Shape batch_of(const Shape& shape) { return Shape(shape.dims().first(shape.rank() < 2 ? 0 : shape.rank() - 2)); }

}  // namespace

MatMulPlan MatMulPlan::make(Shape a, Shape b, bool transpose_a, bool transpose_b) {
  MatMulPlan plan;
  if (transpose_a && a.rank() > 1) std::swap(a[a.rank() - 1], a[a.rank() - 2]);
  if (transpose_b && b.rank() > 1) std::swap(b[b.rank() - 1], b[b.rank() - 2]);
  plan.k = static_cast<std::size_t>(a[a.rank() - 1]);
  if (a.rank() > 1) plan.m = static_cast<std::size_t>(a[a.rank() - 2]);
  if (b.rank() > 1) plan.n = static_cast<std::size_t>(b[b.rank() - 1]);
  const Shape a_batch = batch_of(a), b_batch = batch_of(b);
  Shape batch = a_batch.rank() >= b_batch.rank() ? a_batch : b_batch;
  const Shape& other = a_batch.rank() >= b_batch.rank() ? b_batch : a_batch;
  for (std::size_t i = 0; i < other.rank(); ++i) {
    std::int64_t& dim = batch[batch.rank() - other.rank() + i];
    if (dim == 1) dim = other[i];
  }
  plan.batch = static_cast<std::size_t>(batch.num_elements());
  const bool rows_follow_each_other = !transpose_a || plan.batch == 1;
  if (rows_follow_each_other && b_batch.num_elements() == 1 &&
      a_batch.num_elements() == static_cast<std::int64_t>(plan.batch)) {
    plan.m *= plan.batch;
    plan.batch = 1;
    plan.a_offsets = plan.b_offsets = {0};
    return plan;
  }
  plan.a_offsets = batch_offsets(a_batch, batch, plan.m * plan.k);
  plan.b_offsets = batch_offsets(b_batch, batch, plan.k * plan.n);
  return plan;
}

}  // namespace sardonyx::provider::cpu
