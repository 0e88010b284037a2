#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace sardonyx::provider::cpu {

/// The type that interpolation computes in: wide enough for every value of T.
template <typename T>
using InterpolationType =
    std::conditional_t<std::is_same_v<T, double> || (std::is_integral_v<T> && sizeof(T) >= 4), double, float>;

/// An interpolated value as T: integers are rounded to nearest, ties to even, and saturate; NaN becomes the lowest.
template <typename T, typename W>
T saturate_round(W value) {
  if constexpr (!std::is_integral_v<T>) {
    return static_cast<T>(value);
  } else {
    const W rounded = std::nearbyint(value);
    if (!(rounded > static_cast<W>(std::numeric_limits<T>::lowest()))) return std::numeric_limits<T>::lowest();
    if (rounded >= static_cast<W>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
    return static_cast<T>(rounded);
  }
}

}  // namespace sardonyx::provider::cpu
