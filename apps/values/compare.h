#pragma once

#include <string>

#include "sardonyx/value.h"

namespace sardonyx::values {

struct Tolerance {
  double rtol = 1e-3;
  double atol = 1e-7;
};

/// Why `actual` isn't `expected`; empty where it is. Kinds, element types and shapes must agree; integers, booleans and
/// strings must be equal; floats may differ by atol + rtol * |expected|, equal infinities agree, and NaN agrees with
/// NaN.
std::string difference(const Value& expected, const Value& actual, const Tolerance& tolerance);

}  // namespace sardonyx::values
