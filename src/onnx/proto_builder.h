#pragma once

// Small ONNX files for tests, built field by field, so that a test can also build what no writer would.

#include <cstdint>
#include <protozero/pbf_writer.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/model.h"
#include "onnx/reader.h"

namespace sardonyx::onnx::testing {

/// One protobuf message under construction. Messages nest as strings.
class Message {
 public:
  Message& text(std::uint32_t field, std::string_view value) {
    protozero::pbf_writer(data_).add_bytes(field, value.data(), value.size());
    return *this;
  }
  Message& number(std::uint32_t field, std::int64_t value) {
    protozero::pbf_writer(data_).add_int64(field, value);
    return *this;
  }
  Message& real(std::uint32_t field, float value) {
    protozero::pbf_writer(data_).add_float(field, value);
    return *this;
  }
  Message& texts(std::uint32_t field, const std::vector<std::string>& values) {
    for (const std::string& value : values) text(field, value);
    return *this;
  }
  Message& numbers(std::uint32_t field, const std::vector<std::int64_t>& values) {
    for (std::int64_t value : values) number(field, value);
    return *this;
  }
  /// Bytes that are no field.
  Message& raw(std::string_view bytes) {
    data_ += bytes;
    return *this;
  }
  operator std::string() const { return data_; }       // NOLINT(google-explicit-constructor)
  operator std::string_view() const { return data_; }  // NOLINT(google-explicit-constructor)

 private:
  std::string data_;
};

// Attributes
// -----------------------------------------------------------------------------------------------------------------
inline std::string int_attribute(std::string_view name, std::int64_t value) {
  return Message().text(1, name).number(3, value).number(20, 2);
}
inline std::string float_attribute(std::string_view name, float value) {
  return Message().text(1, name).real(2, value).number(20, 1);
}
inline std::string string_attribute(std::string_view name, std::string_view value) {
  return Message().text(1, name).text(4, value).number(20, 3);
}
inline std::string ints_attribute(std::string_view name, const std::vector<std::int64_t>& values) {
  return Message().text(1, name).numbers(8, values).number(20, 7);
}
inline std::string tensor_attribute(std::string_view name, std::string_view tensor) {
  return Message().text(1, name).text(5, tensor).number(20, 4);
}
inline std::string graph_attribute(std::string_view name, std::string_view graph) {
  return Message().text(1, name).text(6, graph).number(20, 5);
}
inline std::string reference_attribute(std::string_view name, std::string_view referred, std::int64_t type) {
  return Message().text(1, name).text(21, referred).number(20, type);
}

// Nodes, tensors, types
// ------------------------------------------------------------------------------------------------------
inline Message node(std::string_view op_type, const std::vector<std::string>& inputs,
                    const std::vector<std::string>& outputs, const std::vector<std::string>& attributes = {}) {
  return Message().texts(1, inputs).texts(2, outputs).text(4, op_type).texts(5, attributes);
}
inline Message tensor_header(std::string_view name, std::int64_t type, const std::vector<std::int64_t>& dims) {
  return Message().numbers(1, dims).number(2, type).text(8, name);
}
inline std::string float_tensor(std::string_view name, const std::vector<std::int64_t>& dims,
                                const std::vector<float>& values) {
  const std::string_view bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  return tensor_header(name, 1, dims).text(9, bytes);
}
/// An int64 vector, or with `scalar` its only element.
inline std::string ints(std::string_view name, const std::vector<std::int64_t>& values, bool scalar = false) {
  const std::string_view bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(std::int64_t));
  std::vector<std::int64_t> dims;
  if (!scalar) dims.push_back(static_cast<std::int64_t>(values.size()));
  return tensor_header(name, 7, dims).text(9, bytes);
}
/// Dimensions that are negative become named ones: "d1" for -1, and so on.
inline std::string value_info(std::string_view name, std::int64_t element, const std::vector<std::int64_t>& dims) {
  Message shape;
  for (std::int64_t dim : dims)
    shape.text(1, dim < 0 ? Message().text(2, "d" + std::to_string(-dim)) : Message().number(1, dim));
  const Message tensor = Message().number(1, element).text(2, shape);
  return Message().text(1, name).text(2, Message().text(1, tensor));
}
inline std::string untyped(std::string_view name) { return Message().text(1, name); }

// Graphs and models
// ----------------------------------------------------------------------------------------------------------
struct GraphParts {
  std::vector<std::string> nodes, initializers, inputs, outputs, sparse_initializers, value_infos;
};
inline Message graph(const GraphParts& parts, std::string_view name = "g") {
  return Message()
      .texts(1, parts.nodes)
      .text(2, name)
      .texts(5, parts.initializers)
      .texts(15, parts.sparse_initializers)
      .texts(11, parts.inputs)
      .texts(12, parts.outputs)
      .texts(13, parts.value_infos);
}
inline std::string opset(std::string_view domain, std::int64_t version) {
  return Message().text(1, domain).number(2, version);
}
inline Message model(std::string_view graph_message, std::int64_t version = 21, std::int64_t ir_version = 10) {
  return Message().number(1, ir_version).text(8, opset("", version)).text(7, graph_message);
}

inline graph::Model read(std::string_view message, const ReadOptions& options = {}) {
  return read_model(std::as_bytes(std::span(message)), options);
}

}  // namespace sardonyx::onnx::testing
