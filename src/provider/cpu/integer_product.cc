#include "provider/cpu/integer_product.h"

#include <fmt/core.h>

#include "base/fail.h"

namespace sardonyx::provider::cpu {

PerLine per_line(const TensorView* values, std::size_t lines, std::size_t matrix, std::size_t matrices, const char* what) {
  const std::size_t count = values ? static_cast<std::size_t>(values->num_elements()) : 1;
  if (count == 1) return {};
  if (count == lines) return {0, 1};
  if (count == lines * matrices) return {matrix * lines, 1};
  fail(ErrorCode::kInvalidArgument, "{} must hold 1 value or {} (one a row or column), found shape {}", what, lines, values->shape.to_string());
}

kernels::IntegerParameter widen_zero_points(const TensorView* zero, PerLine line, std::size_t lines, std::int32_t* out) {
  if (!zero) return {};
  const std::size_t count = line.step == 0 ? 1 : lines;
  for (std::size_t i = 0; i < count; ++i) {
    const std::byte* at = zero->bytes() + line.offset + i;
    out[i] = zero->type == ElementType::kInt8 ? static_cast<std::int32_t>(*reinterpret_cast<const std::int8_t*>(at)) : static_cast<std::int32_t>(*at);
  }
  return {out, line.step};
}

std::optional<PackedIntegerRight> PackedIntegerRight::find(const graph::NodeDesc& node, std::size_t input) {
  const Tensor* constant = node.constant(input);
  if (!constant || (constant->type() != ElementType::kInt8 && constant->type() != ElementType::kUInt8)) return std::nullopt;
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
            kernels::pack_integer_b(constant.data_ptr, self.is_signed, static_cast<std::ptrdiff_t>(self.n), 1, self.k, self.n, packed);
          }};
}

}  // namespace sardonyx::provider::cpu
