#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace sardonyx::onnx {

/// Walks the fields of one protobuf message that lies in memory. Borrows the bytes. Everything that the bytes can get
/// wrong (a field that ends outside the message, an unknown wire type, a field of another wire type than the reader
/// asks for) throws kInvalidModel naming the message and the field.
class MessageReader {
 public:
  /// `message` names the message in errors, such as "TensorProto"; it must be a literal.
  MessageReader(std::string_view bytes, const char* message)
      : at_(bytes.data()), end_(at_ + bytes.size()), message_(message) {}

  /// Moves to the next field. False at the message's end.
  bool next();
  std::uint32_t field() const { return field_; }

  std::int64_t as_int() const;
  float as_float() const;
  std::string_view as_bytes() const;

  /// A repeated scalar field may be packed or not: appends what this field holds.
  void append_ints(std::vector<std::int64_t>& out) const;
  void append_floats(std::vector<float>& out) const;

  /// The same for large fields: calls fn(value) per element, `Fixed` being float or double.
  template <typename Fn>
  void each_int(Fn&& fn) const;
  template <typename Fixed, typename Fn>
  void each_fixed(Fn&& fn) const;
  /// At most how many elements this field of a repeated scalar can hold.
  std::size_t most_elements(std::size_t element_bytes) const;

 private:
  enum class WireType : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

  [[noreturn]] void malformed(const char* what) const;
  [[noreturn]] void wrong_type(const char* expected) const;
  void read_value(std::uint32_t wire_type);
  std::uint64_t varint(const char** at, const char* end) const;

  const char* at_;
  const char* end_;
  const char* message_;
  std::uint32_t field_ = 0;
  WireType wire_type_ = WireType::kVarint;
  std::uint64_t number_ = 0;
  std::string_view bytes_;
};

template <typename Fn>
void MessageReader::each_int(Fn&& fn) const {
  if (wire_type_ == WireType::kVarint) return fn(static_cast<std::int64_t>(number_));
  if (wire_type_ != WireType::kBytes) wrong_type("integers");
  const char* at = bytes_.data();
  const char* const end = at + bytes_.size();
  while (at != end) fn(static_cast<std::int64_t>(varint(&at, end)));
}

template <typename Fixed, typename Fn>
void MessageReader::each_fixed(Fn&& fn) const {
  static_assert(sizeof(Fixed) == 4 || sizeof(Fixed) == 8);
  constexpr WireType kSingle = sizeof(Fixed) == 4 ? WireType::kFixed32 : WireType::kFixed64;
  Fixed value;
  if (wire_type_ == kSingle) {
    __builtin_memcpy(&value, &number_, sizeof(Fixed));
    return fn(value);
  }
  if (wire_type_ != WireType::kBytes) wrong_type("floating-point numbers");
  if (bytes_.size() % sizeof(Fixed) != 0) malformed("a packed field's length is not a multiple of its element size");
  for (std::size_t i = 0; i < bytes_.size(); i += sizeof(Fixed)) {
    __builtin_memcpy(&value, bytes_.data() + i, sizeof(Fixed));
    fn(value);
  }
}

}  // namespace sardonyx::onnx
