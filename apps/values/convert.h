#pragma once

#include "sardonyx/tensor.h"

namespace sardonyx::values {

/// The type in which NumPy files hold this one: itself where NumPy has it.
ElementType numpy_type(ElementType type);

/// The same numbers as another type, if every one of them survives; the tensor itself where the types agree already.
/// Throws kInvalidArgument naming the first number that `type` can't hold, or types between which nothing is converted
/// (strings, complex numbers).
Tensor convert(const Tensor& tensor, ElementType type);

}  // namespace sardonyx::values
