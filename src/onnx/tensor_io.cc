#include "onnx/tensor_io.h"

#include <protozero/pbf_writer.hpp>
#include <utility>

#include "base/fail.h"
#include "base/file_mapping.h"
#include "onnx/context.h"
#include "onnx/tensor_decode.h"
#include "onnx/tensor_encode.h"
#include "onnx/wire.h"

namespace sardonyx::onnx {
namespace {

using graph::ValueType;

/// SequenceProto.DataType and OptionalProto.DataType; also the fields of their values, less 2.
enum class Kind : std::uint8_t {
  kUndefined = 0,
  kTensor = 1,
  kSparseTensor = 2,
  kSequence = 3,
  kMap = 4,
  kOptional = 5
};

Value decode_sequence(Bytes message, int depth);
Value decode_map(Bytes message, int depth);
Value decode_optional(Bytes message, int depth);

Value decode_kind(Kind kind, Bytes message, int depth) {
  if (depth > kDeepestNesting) fail(ErrorCode::kInvalidModel, "values are nested more than {} deep", kDeepestNesting);
  TensorDecoder decoder(nullptr, {}, message.size(), std::size_t{256} << 20);
  switch (kind) {
    case Kind::kTensor: return decoder.decode(parse_tensor(message));
    case Kind::kSparseTensor: return decoder.densify(decoder.decode_sparse(parse_sparse_tensor(message)));
    case Kind::kSequence: return decode_sequence(message, depth + 1);
    case Kind::kMap: return decode_map(message, depth + 1);
    case Kind::kOptional: return decode_optional(message, depth + 1);
    case Kind::kUndefined: break;
  }
  fail(ErrorCode::kInvalidModel, "a value has no kind");
}

/// The kind of the value that a field holds, kUndefined for other fields. Fields of SequenceProto and OptionalProto
/// agree.
Kind kind_of_field(std::uint32_t field) {
  return field >= 3 && field <= 7 ? static_cast<Kind>(field - 2) : Kind::kUndefined;
}

Value decode_sequence(Bytes message, int depth) {
  Sequence sequence;
  std::int64_t declared = 0;
  MessageReader reader(message, "SequenceProto");
  while (reader.next()) {
    if (reader.field() == 2) declared = reader.as_int();
    const Kind kind = kind_of_field(reader.field());
    if (kind == Kind::kUndefined) continue;
    if (declared != 0 && declared != static_cast<std::int64_t>(kind)) {
      fail(ErrorCode::kInvalidModel, "a sequence of kind {} holds an element of kind {}", declared,
           static_cast<int>(kind));
    }
    sequence.items.push_back(decode_kind(kind, reader.as_bytes(), depth));
    if (sequence.items.back().is_tensor()) sequence.element_type = sequence.items.back().tensor().type();
  }
  return sequence;
}

Value decode_map(Bytes message, int depth) {
  std::int64_t key_type = 0;
  std::vector<std::int64_t> ints;
  std::vector<std::string> strings;
  Value values;
  MessageReader reader(message, "MapProto");
  while (reader.next()) {
    if (reader.field() == 2) key_type = reader.as_int();
    if (reader.field() == 3) reader.append_ints(ints);
    if (reader.field() == 4) strings.emplace_back(reader.as_bytes());
    if (reader.field() == 5) values = decode_sequence(reader.as_bytes(), depth + 1);
  }
  const std::size_t count = ints.empty() ? strings.size() : ints.size();
  const std::size_t value_count = values.is_none() ? 0 : values.sequence().items.size();
  if ((!ints.empty() && !strings.empty()) || count != value_count) {
    fail(ErrorCode::kInvalidModel, "a map has {} + {} keys and {} values", ints.size(), strings.size(), value_count);
  }
  Map map;
  const Shape shape{static_cast<std::int64_t>(count)};
  const bool is_string = to_element_type(key_type) == ElementType::kString;
  map.keys = is_string ? Tensor::from<std::string>(shape, strings) : Tensor::from<std::int64_t>(shape, ints);
  if (!values.is_none()) map.values = values.sequence().items;
  return map;
}

Value decode_optional(Bytes message, int depth) {
  Value value;
  MessageReader reader(message, "OptionalProto");
  while (reader.next()) {
    const Kind kind = kind_of_field(reader.field());
    if (kind != Kind::kUndefined) value = decode_kind(kind, reader.as_bytes(), depth);
  }
  return value;
}

Kind kind_of(const ValueType& type) {
  switch (type.kind) {
    case ValueType::Kind::kSequence: return Kind::kSequence;
    case ValueType::Kind::kOptional: return Kind::kOptional;
    case ValueType::Kind::kMap: return Kind::kMap;
    default: return Kind::kTensor;
  }
}

Kind kind_of(const Value& value) {
  if (value.is_tensor()) return Kind::kTensor;
  if (value.is_sequence()) return Kind::kSequence;
  return value.is_map() ? Kind::kMap : Kind::kUndefined;
}

std::string encode(const Value& value, const std::string& name);

std::string encode_sequence(const std::vector<Value>& items, const std::string& name) {
  std::string data;
  protozero::pbf_writer writer(data);
  if (!name.empty()) writer.add_string(1, name);
  const Kind kind = items.empty() ? Kind::kTensor : kind_of(items.front());
  writer.add_int32(2, static_cast<std::int32_t>(kind));
  for (const Value& item : items) {
    if (kind_of(item) != kind || item.is_none())
      fail(ErrorCode::kInvalidArgument, "a sequence's elements differ in kind");
    writer.add_message(static_cast<protozero::pbf_tag_type>(kind) + 2, encode(item, ""));
  }
  return data;
}

std::string encode_map(const Map& map, const std::string& name) {
  std::string data;
  protozero::pbf_writer writer(data);
  if (!name.empty()) writer.add_string(1, name);
  writer.add_int32(2, static_cast<std::int32_t>(map.keys.type()));
  if (map.keys.type() == ElementType::kString) {
    for (const std::string& key : map.keys.span<std::string>()) writer.add_bytes(4, key);
  } else {
    const auto keys = map.keys.span<std::int64_t>();
    writer.add_packed_int64(3, keys.begin(), keys.end());
  }
  writer.add_message(5, encode_sequence(map.values, ""));
  return data;
}

std::string encode(const Value& value, const std::string& name) {
  if (value.is_tensor()) return encode_tensor(value.tensor(), name);
  if (value.is_sequence()) return encode_sequence(value.sequence().items, name);
  if (value.is_map()) return encode_map(value.map(), name);
  fail(ErrorCode::kInvalidArgument, "nothing can only be written as an optional");
}

}  // namespace

Value read_value(std::span<const std::byte> bytes, const ValueType& type) {
  return decode_kind(kind_of(type), {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, 0);
}

Value read_value(const std::filesystem::path& path, const ValueType& type) {
  const FileMapping file(path.string());
  return in_context([&] { return "file '" + path.string() + "'"; }, [&] { return read_value(file.bytes(), type); });
}

std::string write_value(const Value& value, const std::string& name, const ValueType& type) {
  if (type.kind != ValueType::Kind::kOptional) return encode(value, name);
  std::string data;
  protozero::pbf_writer writer(data);
  if (!name.empty()) writer.add_string(1, name);
  const Kind kind = kind_of(value);
  writer.add_int32(2, static_cast<std::int32_t>(kind));
  if (!value.is_none()) writer.add_message(static_cast<protozero::pbf_tag_type>(kind) + 2, encode(value, ""));
  return data;
}

}  // namespace sardonyx::onnx
