#include "provider/cpu/packed_right.h"

#include <fmt/core.h>
#include <vector>

#include "provider/cpu/convert.h"

namespace sardonyx::provider::cpu {

std::optional<PackedRight> PackedRight::find(const graph::NodeDesc& node, std::size_t input, bool transposed) {
  const Tensor* constant = node.constant(input);
  if (!constant || constant->type() == ElementType::kFloat64 || !is_floating_point(constant->type()))
    return std::nullopt;
  const Shape& shape = constant->shape();
  if (shape.rank() == 0 || (transposed && shape.rank() != 2)) return std::nullopt;
  const std::size_t rank = shape.rank();
  if (rank > 2 && shape.product(0, rank - 2) != 1) return std::nullopt;
  const auto rows = static_cast<std::size_t>(rank == 1 ? shape[0] : shape[rank - 2]);
  const auto columns = static_cast<std::size_t>(rank == 1 ? 1 : shape[rank - 1]);
  if (rows == 0 || columns == 0) return std::nullopt;
  return transposed ? PackedRight{input, columns, rows, true} : PackedRight{input, rows, columns, false};
}

PackRequest PackedRight::request() const {
  const PackedRight self = *this;
  return {.input = input,
          .packing = fmt::format("{}:{}x{}{}", kernels::packed_b_format(), k, n, transposed ? "t" : ""),
          .bytes = kernels::packed_b_size(k, n) * sizeof(float),
          .pack = [self](const TensorView& constant, std::byte* packed) {
            const float* data = nullptr;
            std::vector<float> widened;
            if (constant.type == ElementType::kFloat32) {
              data = constant.data<float>();
            } else {
              widened.resize(self.k * self.n);
              load_elements(constant, 0, widened.size(), widened.data());
              data = widened.data();
            }
            const auto k_stride = static_cast<std::ptrdiff_t>(self.transposed ? 1 : self.n);
            const auto n_stride = static_cast<std::ptrdiff_t>(self.transposed ? self.k : 1);
            kernels::pack_b(data, k_stride, n_stride, self.k, self.n, reinterpret_cast<float*>(packed));
          }};
}

}  // namespace sardonyx::provider::cpu
