#pragma once

#include "sardonyx/tensor.h"

namespace sardonyx {

/// Whether the elements lie where their type may lie. Tensors of model files may not: a protobuf aligns nothing.
bool is_aligned(const TensorView& tensor);
/// The tensor itself, or a copy that is aligned.
Tensor aligned(const Tensor& tensor);

}  // namespace sardonyx
