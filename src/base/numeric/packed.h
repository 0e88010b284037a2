#pragma once

#include <cstddef>
#include <cstdint>

#include "base/numeric/float8.h"

namespace sardonyx {

/// Names of the ONNX element types that share a byte. Element i lies in the byte i * bits / 8, the first one lowest.
struct Int4 {
  using Value = std::int8_t;
  static constexpr int kBits = 4;
  static constexpr Value decode(unsigned code) { return static_cast<Value>(static_cast<int>(code ^ 8u) - 8); }
  static constexpr unsigned encode(Value value) { return static_cast<unsigned>(value) & 15u; }
};
struct UInt4 {
  using Value = std::uint8_t;
  static constexpr int kBits = 4;
  static constexpr Value decode(unsigned code) { return static_cast<Value>(code); }
  static constexpr unsigned encode(Value value) { return value & 15u; }
};
struct Int2 {
  using Value = std::int8_t;
  static constexpr int kBits = 2;
  static constexpr Value decode(unsigned code) { return static_cast<Value>(static_cast<int>(code ^ 2u) - 2); }
  static constexpr unsigned encode(Value value) { return static_cast<unsigned>(value) & 3u; }
};
struct UInt2 {
  using Value = std::uint8_t;
  static constexpr int kBits = 2;
  static constexpr Value decode(unsigned code) { return static_cast<Value>(code); }
  static constexpr unsigned encode(Value value) { return value & 3u; }
};
struct PackedFloat4E2M1 {
  using Value = Float4E2M1;
  static constexpr int kBits = 4;
  static constexpr Value decode(unsigned code) { return Value::from_bits(static_cast<std::uint8_t>(code)); }
  static constexpr unsigned encode(Value value) { return value.bits & 15u; }
};

/// Element i of a packed array of T (one of the names above).
template <typename T>
typename T::Value get_packed(const void* data, std::size_t i) {
  constexpr std::size_t kPerByte = 8 / T::kBits;
  const unsigned byte = static_cast<const std::uint8_t*>(data)[i / kPerByte];
  return T::decode(byte >> (i % kPerByte * T::kBits) & ((1u << T::kBits) - 1));
}

/// Stores element i; bits of the value beyond the type's width are dropped, the neighbours in the byte are kept. Two
/// threads must not write elements of one byte at once.
template <typename T>
void set_packed(void* data, std::size_t i, typename T::Value value) {
  constexpr std::size_t kPerByte = 8 / T::kBits;
  constexpr unsigned kMask = (1u << T::kBits) - 1;
  std::uint8_t& byte = static_cast<std::uint8_t*>(data)[i / kPerByte];
  const unsigned shift = static_cast<unsigned>(i % kPerByte * T::kBits);
  byte = static_cast<std::uint8_t>((byte & ~(kMask << shift)) | T::encode(value) << shift);
}

}  // namespace sardonyx
