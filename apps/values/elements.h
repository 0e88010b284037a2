#pragma once

#include "sardonyx/tensor.h"

namespace sardonyx::values {

/// Whether elements are real numbers or booleans: not strings, not complex.
bool is_real(ElementType type);

/// Element i as a double, of a real type; 64-bit integers beyond 2^53 are rounded.
double get_element(const TensorView& tensor, std::int64_t i);

/// Stores element i, rounded to nearest for floats; integers must be whole and in range.
void set_element(const TensorView& tensor, std::int64_t i, double value);

/// The smallest and largest value of an integer type or bool.
double lowest_integer(ElementType type);
double highest_integer(ElementType type);

}  // namespace sardonyx::values
