#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "provider/cpu/dispatch.h"

namespace sardonyx::provider::cpu {

/// Every element type that holds numbers, bool included; complex and string are not among them.
using ScalarTypes = Types<float, double, Half, BFloat16, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                          std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, bool, Float8E4M3FN, Float8E4M3FNUZ,
                          Float8E5M2, Float8E5M2FNUZ, Float8E8M0, PackedFloat4E2M1, Int4, UInt4, Int2, UInt2>;

template <typename T>
concept PackedType = requires { T::kBits; };

/// Element i of memory that holds T, whether T is packed or not.
template <typename T>
struct Element {
  using Value = T;
  static Value get(const void* data, std::size_t i) { return static_cast<const T*>(data)[i]; }
  static void set(void* data, std::size_t i, Value value) { static_cast<T*>(data)[i] = value; }
};
template <PackedType T>
struct Element<T> {
  using Value = typename T::Value;
  static Value get(const void* data, std::size_t i) { return get_packed<T>(data, i); }
  static void set(void* data, std::size_t i, Value value) { set_packed<T>(data, i, value); }
};

/// Parallel loops over packed elements must begin at multiples of this, so that no two threads share a byte.
inline constexpr std::size_t kPackedGroup = 4;
static_assert(kElementChunk % kPackedGroup == 0);

struct CastOptions {
  bool saturate = true;                         ///< float8 destinations only
  E8M0Rounding round_mode = E8M0Rounding::kUp;  ///< Float8E8M0 destinations only
};

/// The nearest int64 below x in magnitude; what does not fit becomes the nearest bound, NaN becomes 0.
inline std::int64_t truncate_to_int64(double x) {
  if (x != x) return 0;
  if (x >= 0x1p63) return std::numeric_limits<std::int64_t>::max();
  return x <= -0x1p63 ? std::numeric_limits<std::int64_t>::min() : static_cast<std::int64_t>(x);
}

/// A float as an integer, rounding towards zero. ONNX leaves values out of range open. Here, on every machine: NaN
/// gives 0; int32, int64 and uint64 saturate; other types keep the low bits, as integer casts do, and saturate beyond
/// int64.
template <typename D>
D float_to_integer(double x) {
  constexpr auto kMax = std::numeric_limits<D>::max();
  constexpr auto kMin = std::numeric_limits<D>::min();
  if constexpr (std::is_same_v<D, std::uint64_t>) {
    if (!(x >= 1)) return 0;
    return x >= 0x1p64 ? kMax : static_cast<std::uint64_t>(x);
  } else if constexpr (std::is_same_v<D, std::int32_t>) {
    if (x != x) return 0;
    if (x >= 0x1p31) return kMax;
    return x <= -0x1p31 ? kMin : static_cast<std::int32_t>(x);
  } else {
    if (x >= 0x1p63) return kMax;
    if (x <= -0x1p63) return kMin;
    return static_cast<D>(truncate_to_int64(x));
  }
}

/// One value from a wide type W (float, double, int64 or uint64) to what element type T stores, by Cast's rules.
template <typename T, typename W>
typename Element<T>::Value convert_element(W value, const CastOptions& options) {
  using Value = typename Element<T>::Value;
  if constexpr (std::is_same_v<T, bool>) {
    return value != 0;
  } else if constexpr (std::is_same_v<T, Float8E8M0>) {
    if constexpr (std::is_integral_v<W>)
      return Float8E8M0::from_double(numeric::widen(value), options.saturate, options.round_mode);
    else
      return Float8E8M0::from_double(value, options.saturate, options.round_mode);
  } else if constexpr (requires { Value::from_double(0.0, true); }) {
    if constexpr (std::is_same_v<T, PackedFloat4E2M1> && std::is_floating_point_v<W>) {
      if (value != value) return Value::from_bits(0x8);  // there is no NaN: ONNX's reference stores -0
    }
    if constexpr (std::is_integral_v<W>)
      return Value::from_double(numeric::widen(value), options.saturate);
    else
      return Value::from_double(value, options.saturate);
  } else if constexpr (std::is_integral_v<Value>) {
    if constexpr (std::is_integral_v<W>) {
      return static_cast<Value>(value);
    } else if constexpr (PackedType<T>) {
      return static_cast<Value>(truncate_to_int64(value));  // stored modulo the type's width
    } else {
      return float_to_integer<Value>(value);
    }
  } else {
    return static_cast<Value>(value);
  }
}

/// Reads elements [begin, begin + count) of any type in ScalarTypes as W. Exact where W holds the type's values.
template <typename W>
void load_elements(const TensorView& x, std::size_t begin, std::size_t count, W* out) {
  dispatch(ScalarTypes{}, x.type, "a conversion", [&]<typename T>() {
    for (std::size_t i = 0; i < count; ++i) {
      const auto value = Element<T>::get(x.data_ptr, begin + i);
      if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(value)>>) {
        if constexpr (std::is_integral_v<W> && std::is_floating_point_v<std::remove_cvref_t<decltype(value)>>) {
          out[i] = float_to_integer<W>(value);
        } else {
          out[i] = static_cast<W>(value);
        }
      } else if constexpr (std::is_integral_v<W>) {
        out[i] = float_to_integer<W>(static_cast<double>(value));
      } else {
        out[i] = static_cast<W>(static_cast<float>(value));
      }
    }
  });
}

/// Writes elements [begin, begin + count) of any type in ScalarTypes. `begin` must be a multiple of kPackedGroup when
/// other threads write elsewhere in the tensor.
template <typename W>
void store_elements(const W* values, const TensorView& y, std::size_t begin, std::size_t count,
                    const CastOptions& options = {}) {
  dispatch(ScalarTypes{}, y.type, "a conversion", [&]<typename T>() {
    for (std::size_t i = 0; i < count; ++i)
      Element<T>::set(y.data_ptr, begin + i, convert_element<T>(values[i], options));
  });
}

/// Calls fn.template operator()<W>() with the smallest wide type that holds all of `type`'s values: float, double,
/// int64, uint64.
template <typename Fn>
void dispatch_exact(ElementType type, Fn&& fn) {
  if (type == ElementType::kFloat64) return fn.template operator()<double>();
  if (type == ElementType::kUInt64) return fn.template operator()<std::uint64_t>();
  if (is_floating_point(type)) return fn.template operator()<float>();
  fn.template operator()<std::int64_t>();
}

}  // namespace sardonyx::provider::cpu
