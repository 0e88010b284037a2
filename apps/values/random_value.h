#pragma once

#include <cstdint>
#include <string_view>

#include "sardonyx/tensor.h"

namespace sardonyx::values {

/// A tensor of made-up values for trying a model, the same for the same arguments. Floats are normal with deviation 1.
/// Integers are 0 to 99, except that names which hold "mask" get ones and those which hold "type" get zeros, since that
/// is what text models expect of attention_mask and token_type_ids. Booleans are true; strings are short words.
Tensor random_tensor(std::string_view name, ElementType type, const Shape& shape, std::uint64_t seed);

}  // namespace sardonyx::values
