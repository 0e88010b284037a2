#include "base/aligned_tensor.h"

#include <algorithm>
#include <cstdint>

namespace sardonyx {

bool is_aligned(const TensorView& tensor) {
  if (tensor.type == ElementType::kString) return true;
  int bytes = std::max(bit_width(tensor.type) / 8, 1);
  if (is_complex(tensor.type)) bytes /= 2;
  return reinterpret_cast<std::uintptr_t>(tensor.data_ptr) % static_cast<std::uintptr_t>(bytes) == 0;
}

Tensor aligned(const Tensor& tensor) { return is_aligned(tensor.view()) ? tensor : tensor.clone(); }

}  // namespace sardonyx
