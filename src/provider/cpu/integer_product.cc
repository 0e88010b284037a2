#include "provider/cpu/integer_product.h"

#include <fmt/core.h>

#include "base/fail.h"
#include "provider/cpu/ops/wide_io.h"

namespace sardonyx::provider::cpu {

PerLine per_line(const TensorView* values, std::size_t lines, std::size_t matrix, std::size_t matrices,
                 const char* what) {
  const std::size_t count = values ? static_cast<std::size_t>(values->num_elements()) : 1;
  if (count == 1) return {};
  if (count == lines) return {0, 1};
  if (count == lines * matrices) return {matrix * lines, 1};
  fail(ErrorCode::kInvalidArgument, "{} must hold 1 value or {} (one a row or column), found shape {}", what, lines,
       values->shape.to_string());
}

kernels::IntegerParameter widen_zero_points(const TensorView* zero, PerLine line, std::size_t lines,
                                            std::int32_t* out) {
  if (!zero) return {};
  const std::size_t count = line.step == 0 ? 1 : lines;
  for (std::size_t i = 0; i < count; ++i) {
    const std::byte* at = zero->bytes() + line.offset + i;
    out[i] = zero->type == ElementType::kInt8 ? static_cast<std::int32_t>(*reinterpret_cast<const std::int8_t*>(at))
                                              : static_cast<std::int32_t>(*at);
  }
  return {out, line.step};
}

std::optional<PackedIntegerRight> PackedIntegerRight::find(const graph::NodeDesc& node, std::size_t input) {
  const Tensor* constant = node.constant(input);
  if (!constant || (constant->type() != ElementType::kInt8 && constant->type() != ElementType::kUInt8))
    return std::nullopt;
  const Shape& shape = constant->shape();
  const std::size_t rank = shape.rank();
  if (rank == 0 || shape.num_elements() == 0 || (rank > 2 && shape.product(0, rank - 2) != 1)) return std::nullopt;
  const auto k = static_cast<std::size_t>(rank == 1 ? shape[0] : shape[rank - 2]);
  const auto n = static_cast<std::size_t>(rank == 1 ? 1 : shape[rank - 1]);
  return PackedIntegerRight{input, k, n, constant->type() == ElementType::kInt8};
}

PackRequest PackedIntegerRight::request() const {
  const PackedIntegerRight self = *this;
  return {.input = input,
          .packing = fmt::format("{}:{}x{}{}", kernels::packed_integer_b_format(), k, n, is_signed ? "s" : "u"),
          .bytes = kernels::packed_integer_b_size(k, n),
          .pack = [self](const TensorView& constant, std::byte* packed) {
            kernels::pack_integer_b(constant.data_ptr, self.is_signed, static_cast<std::ptrdiff_t>(self.n), 1, self.k,
                                    self.n, packed);
          }};
}

std::vector<PackRequest> IntegerProduct::pack_requests() const {
  if (!right_) return {};
  return {right_->request()};
}

void IntegerProduct::bind(const Shape& a, const Shape& b, BoundProduct& bound) const {
  bound.plan = MatMulPlan::make(a, b);
  const MatMulPlan& plan = bound.plan;
  bound.row_zeros = align_workspace(plan.m * sizeof(std::int32_t));
  bound.column_zeros = align_workspace(plan.n * sizeof(std::int32_t));
  if (!right_) bound.packed = align_workspace(kernels::packed_integer_b_size(plan.k, plan.n));
  bound.gemm = align_workspace(kernels::integer_gemm_workspace_size(plan.m, plan.n, plan.k));
}

void IntegerProduct::run(const RunContext& context, const BoundProduct& bound, std::size_t i,
                         const ByteOperands& operands, std::byte* memory, kernels::IntegerOutput output, void* out,
                         const kernels::IntegerEpilogue& epilogue) const {
  const MatMulPlan& plan = bound.plan;
  auto* rows = reinterpret_cast<std::int32_t*>(memory);
  auto* columns = reinterpret_cast<std::int32_t*>(memory + bound.row_zeros);
  std::byte* packed = memory + bound.row_zeros + bound.column_zeros;
  const PerLine row_line = per_line(operands.a_zero, plan.m, i, plan.batch, "a_zero_point");
  const PerLine column_line = per_line(operands.b_zero, plan.n, i, plan.batch, "b_zero_point");
  const kernels::IntegerA left{.data = operands.a->bytes() + plan.a_offsets[i],
                               .is_signed = operands.a->type == ElementType::kInt8,
                               .row_stride = plan.k,
                               .zero_point = widen_zero_points(operands.a_zero, row_line, plan.m, rows)};
  const bool b_signed = operands.b->type == ElementType::kInt8;
  const kernels::PackedIntegerB right = right_ ? right_->view(context.packed(0))
                                               : kernels::pack_integer_b(operands.b->bytes() + plan.b_offsets[i],
                                                                         b_signed, static_cast<std::ptrdiff_t>(plan.n),
                                                                         1, plan.k, plan.n, packed, context.parallel);
  kernels::integer_gemm(plan.m, left, right, widen_zero_points(operands.b_zero, column_line, plan.n, columns), output,
                        out, plan.n, epilogue, packed + bound.packed, context.parallel);
}

Binding IntegerProductKernel::bind(const BindContext& shapes) const {
  auto bound = std::make_shared<BoundProduct>();
  product_.bind(shapes.inputs[0]->shape, shapes.inputs[1]->shape, *bound);
  const std::size_t bytes = bound->bytes();
  return {bytes, std::move(bound)};
}

}  // namespace sardonyx::provider::cpu
