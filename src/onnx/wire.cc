#include "onnx/wire.h"

#include <bit>
#include <protozero/exception.hpp>
#include <protozero/varint.hpp>

#include "base/fail.h"

namespace sardonyx::onnx {

static_assert(std::endian::native == std::endian::little, "ONNX files are little-endian and are read in place");

void MessageReader::malformed(const char* what) const {
  fail(ErrorCode::kInvalidModel, "the file is damaged or not an ONNX model: in field {} of a {}, {}", field_, message_,
       what);
}

void MessageReader::wrong_type(const char* expected) const {
  fail(ErrorCode::kInvalidModel, "field {} of a {} must hold {}, but is encoded as protobuf wire type {}", field_,
       message_, expected, static_cast<int>(wire_type_));
}

std::uint64_t MessageReader::varint(const char** at, const char* end) const {
  try {
    return protozero::decode_varint(at, end);
  } catch (const protozero::exception&) {
    malformed("a number does not end");
  }
}

bool MessageReader::next() {
  if (at_ == end_) return false;
  const std::uint64_t key = varint(&at_, end_);
  const std::uint64_t number = key >> 3;
  if (number == 0 || number > 0x1fffffff) malformed("the next field has an impossible number");
  field_ = static_cast<std::uint32_t>(number);
  read_value(static_cast<std::uint32_t>(key & 7));
  return true;
}

void MessageReader::read_value(std::uint32_t wire_type) {
  wire_type_ = static_cast<WireType>(wire_type);
  const auto left = static_cast<std::uint64_t>(end_ - at_);
  const auto fixed = [&](std::size_t size) {
    if (left < size) malformed("the value ends outside the message");
    number_ = 0;
    __builtin_memcpy(&number_, at_, size);
    at_ += size;
  };
  switch (wire_type_) {
    case WireType::kVarint: number_ = varint(&at_, end_); return;
    case WireType::kFixed64: return fixed(8);
    case WireType::kFixed32: return fixed(4);
    case WireType::kBytes: {
      const std::uint64_t length = varint(&at_, end_);
      if (length > static_cast<std::uint64_t>(end_ - at_)) malformed("the length reaches outside the message");
      bytes_ = {at_, static_cast<std::size_t>(length)};
      at_ += length;
      return;
    }
  }
  malformed("the wire type is unknown");
}

std::int64_t MessageReader::as_int() const {
  if (wire_type_ != WireType::kVarint) wrong_type("an integer");
  return static_cast<std::int64_t>(number_);
}

float MessageReader::as_float() const {
  if (wire_type_ != WireType::kFixed32) wrong_type("a float");
  float value;
  __builtin_memcpy(&value, &number_, sizeof value);
  return value;
}

std::string_view MessageReader::as_bytes() const {
  if (wire_type_ != WireType::kBytes) wrong_type("bytes or a message");
  return bytes_;
}

void MessageReader::append_ints(std::vector<std::int64_t>& out) const {
  each_int([&](std::int64_t value) { out.push_back(value); });
}

void MessageReader::append_floats(std::vector<float>& out) const {
  each_fixed<float>([&](float value) { out.push_back(value); });
}

std::size_t MessageReader::most_elements(std::size_t element_bytes) const {
  return wire_type_ == WireType::kBytes ? bytes_.size() / element_bytes : 1;
}

}  // namespace sardonyx::onnx
