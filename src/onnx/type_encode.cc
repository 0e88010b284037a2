#include "onnx/type_encode.h"

#include <protozero/pbf_writer.hpp>

namespace sardonyx::onnx {
namespace {

using graph::Dim;
using graph::ValueType;

// Nested messages are made as strings: pbf_writer drops a nested message to which nothing is added, but an empty shape
// (a scalar's) and an empty dimension (an unknown one) say something.

std::string encode_dim(const Dim& dim) {
  std::string data;
  protozero::pbf_writer writer(data);
  if (dim.is_constant()) {
    writer.add_int64(1, dim.constant());
  } else if (dim.as_symbol()) {
    const std::string name = dim.to_string();
    if (name.find('#') == std::string::npos) writer.add_string(2, name);  // '#' marks symbols that nothing names
  }
  return data;
}

std::string encode_shape(const std::vector<Dim>& dims) {
  std::string data;
  protozero::pbf_writer writer(data);
  for (const Dim& dim : dims) writer.add_message(1, encode_dim(dim));
  return data;
}

std::string encode_tensor_type(const ValueType& type) {
  std::string data;
  protozero::pbf_writer writer(data);
  writer.add_int32(1, static_cast<std::int32_t>(type.element));
  if (type.has_rank) writer.add_message(2, encode_shape(type.dims));
  return data;
}

std::string encode_container(const ValueType& type) {
  std::string data;
  protozero::pbf_writer writer(data);
  if (type.kind == ValueType::Kind::kMap) writer.add_int32(1, static_cast<std::int32_t>(type.element));
  writer.add_message(type.kind == ValueType::Kind::kMap ? 2 : 1, encode_type(*type.inner));
  return data;
}

}  // namespace

std::string encode_type(const ValueType& type) {
  std::string data;
  protozero::pbf_writer writer(data);
  switch (type.kind) {
    case ValueType::Kind::kNone: break;
    case ValueType::Kind::kTensor: writer.add_message(1, encode_tensor_type(type)); break;
    case ValueType::Kind::kMap: writer.add_message(5, encode_container(type)); break;
    case ValueType::Kind::kSequence: writer.add_message(4, encode_container(type)); break;
    case ValueType::Kind::kOptional: writer.add_message(9, encode_container(type)); break;
  }
  return data;
}

std::string encode_value_info(const std::string& name, const ValueType& type) {
  std::string data;
  protozero::pbf_writer writer(data);
  writer.add_string(1, name);
  const std::string encoded = encode_type(type);
  if (!encoded.empty()) writer.add_message(2, encoded);
  return data;
}

}  // namespace sardonyx::onnx
