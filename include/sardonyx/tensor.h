#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "sardonyx/element_type.h"
#include "sardonyx/shape.h"

namespace sardonyx {

/// Where memory lies. Provider "cpu" is memory that any host code may touch.
struct Device {
  std::uint8_t kind = 0;   ///< 0 is the host; other numbers are handed out by the provider registry
  std::uint8_t index = 0;  ///< which device of that kind
  bool is_host() const { return kind == 0; }
  bool operator==(const Device&) const = default;
};

/// Maps C++ types to ElementType. Specialised here for the plain types and in base/numeric for the small floats.
template <typename T>
inline constexpr ElementType element_type_of = ElementType::kUndefined;
template <> inline constexpr ElementType element_type_of<float> = ElementType::kFloat32;
template <> inline constexpr ElementType element_type_of<double> = ElementType::kFloat64;
template <> inline constexpr ElementType element_type_of<std::int8_t> = ElementType::kInt8;
template <> inline constexpr ElementType element_type_of<std::int16_t> = ElementType::kInt16;
template <> inline constexpr ElementType element_type_of<std::int32_t> = ElementType::kInt32;
template <> inline constexpr ElementType element_type_of<std::int64_t> = ElementType::kInt64;
template <> inline constexpr ElementType element_type_of<std::uint8_t> = ElementType::kUInt8;
template <> inline constexpr ElementType element_type_of<std::uint16_t> = ElementType::kUInt16;
template <> inline constexpr ElementType element_type_of<std::uint32_t> = ElementType::kUInt32;
template <> inline constexpr ElementType element_type_of<std::uint64_t> = ElementType::kUInt64;
template <> inline constexpr ElementType element_type_of<bool> = ElementType::kBool;
template <> inline constexpr ElementType element_type_of<std::string> = ElementType::kString;

/// Borrowed dense row-major memory with an element type and a shape. Sub-byte types are packed, low bits first; strings are an
/// array of std::string. Copying a view never copies elements. A view of a device other than the host must not be dereferenced.
struct TensorView {
  ElementType type = ElementType::kUndefined;
  Device device;
  Shape shape;
  void* data_ptr = nullptr;

  std::int64_t num_elements() const { return shape.num_elements(); }
  std::size_t num_bytes() const { return byte_size(type, num_elements()); }

  /// The elements as T; the caller has checked the type.
  template <typename T>
  const T* data() const {
    assert(element_type_of<T> == ElementType::kUndefined || element_type_of<T> == type);
    return static_cast<const T*>(data_ptr);
  }
  template <typename T>
  T* mutable_data() const {
    assert(element_type_of<T> == ElementType::kUndefined || element_type_of<T> == type);
    return static_cast<T*>(data_ptr);
  }
  const std::byte* bytes() const { return static_cast<const std::byte*>(data_ptr); }
  std::byte* mutable_bytes() const { return static_cast<std::byte*>(data_ptr); }
};

/// A dense row-major tensor that shares ownership of its memory: copying a Tensor shares the elements. The memory may be
/// heap (64-byte aligned), a part of a mapped file (then read-only and aligned only as the file aligned it), or the caller's.
class Tensor {
 public:
  Tensor() = default;
  /// Uninitialised host memory (strings are empty). Throws kResourceExhausted when it can't be had.
  Tensor(ElementType type, Shape shape);
  /// Memory kept alive by `owner` (null: the caller keeps it alive).
  Tensor(ElementType type, Shape shape, void* data, std::shared_ptr<const void> owner, Device device = {});

  template <typename T>
  static Tensor from(const Shape& shape, std::span<const T> values) {
    Tensor tensor(element_type_of<T>, shape);
    assert(static_cast<std::int64_t>(values.size()) == shape.num_elements());
    std::size_t i = 0;
    for (const T& value : values) tensor.mutable_data<T>()[i++] = value;
    return tensor;
  }
  template <typename T>
  static Tensor scalar(T value) {
    return from<T>({}, std::span<const T>(&value, 1));
  }

  bool defined() const { return view_.type != ElementType::kUndefined; }
  ElementType type() const { return view_.type; }
  const Shape& shape() const { return view_.shape; }
  Device device() const { return view_.device; }
  const TensorView& view() const { return view_; }
  const std::shared_ptr<const void>& owner() const { return owner_; }
  std::int64_t num_elements() const { return view_.num_elements(); }
  std::size_t num_bytes() const { return view_.num_bytes(); }
  template <typename T>
  const T* data() const { return view_.data<T>(); }
  template <typename T>
  T* mutable_data() { return view_.mutable_data<T>(); }
  template <typename T>
  std::span<const T> span() const { return {data<T>(), static_cast<std::size_t>(num_elements())}; }

  /// Same memory, other shape with as many elements.
  Tensor reshaped(Shape shape) const;
  /// A copy with memory of its own on the host.
  Tensor clone() const;

 private:
  TensorView view_;
  std::shared_ptr<const void> owner_;
};

/// Whether type, shape and every byte (or string) are equal. Host tensors only.
bool identical(const TensorView& a, const TensorView& b);

}  // namespace sardonyx
