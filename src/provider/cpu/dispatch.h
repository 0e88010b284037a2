#pragma once

#include <complex>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/fail.h"
#include "base/numeric/numeric.h"
#include "sardonyx/tensor.h"

namespace sardonyx::provider::cpu {

/// A list of element types as C++ types.
template <typename... Ts>
struct Types {};

using FloatTypes = Types<float, double, Half, BFloat16>;
using IntegerTypes = Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
using NumberTypes = Types<float, double, Half, BFloat16, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                          std::uint16_t, std::uint32_t, std::uint64_t>;

/// Calls fn.template operator()<T>() for the T whose ElementType is `type`; an Error naming the operator when none is:
///   dispatch(FloatTypes{}, view.type, "Softmax", [&]<typename T>() { run<T>(…); });
template <typename... Ts, typename Fn>
void dispatch(Types<Ts...>, ElementType type, std::string_view op, Fn&& fn) {
  const bool found = ((element_type_of<Ts> == type ? (fn.template operator()<Ts>(), true) : false) || ...);
  if (!found) fail(ErrorCode::kUnsupported, "{} has no kernel for {}", op, name(type));
}

/// Whether `type` is in the list.
template <typename... Ts>
constexpr bool is_one_of(Types<Ts...>, ElementType type) {
  return ((element_type_of<Ts> == type) || ...);
}

/// Calls fn.template operator()<U>() with an unsigned type of the element's width (1, 2, 4, 8 bytes; std::string for strings;
/// std::complex<double> for 16 bytes): for kernels that only move elements. Sub-byte types are an Error.
template <typename Fn>
void dispatch_width(ElementType type, std::string_view op, Fn&& fn) {
  if (type == ElementType::kString) return fn.template operator()<std::string>();
  switch (bit_width(type)) {
    case 8: return fn.template operator()<std::uint8_t>();
    case 16: return fn.template operator()<std::uint16_t>();
    case 32: return fn.template operator()<std::uint32_t>();
    case 64: return fn.template operator()<std::uint64_t>();
    case 128: return fn.template operator()<std::complex<double>>();
    default: fail(ErrorCode::kUnsupported, "{} has no kernel for {}", op, name(type));
  }
}

/// The type arithmetic is done in: float for the 16-bit floats, the type itself otherwise.
template <typename T>
struct ComputeType { using type = T; };
template <> struct ComputeType<Half> { using type = float; };
template <> struct ComputeType<BFloat16> { using type = float; };
template <typename T>
using compute_type = typename ComputeType<T>::type;

/// Elements a parallel loop takes at once for cheap per-element work; independent of the thread count by design.
inline constexpr std::size_t kElementChunk = 16384;

}  // namespace sardonyx::provider::cpu
