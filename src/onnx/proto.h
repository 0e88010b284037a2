#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

// ONNX's protobuf messages as plain structs. Every string_view lies in the file's bytes; nested messages that may be
// large in number or size stay unparsed (as `Bytes`) until they are needed. Each parse_ function throws kInvalidModel
// for bytes that are no such message. Field meanings are those of onnx.proto.
namespace sardonyx::onnx {

using Bytes = std::string_view;  ///< a serialized message

/// Graphs, functions and types may be nested this deep in one another.
inline constexpr int kDeepestNesting = 64;

struct EntryProto {
  std::string_view key, value;
};

struct TensorProto {
  std::string_view name;
  std::vector<std::int64_t> dims;
  std::int64_t data_type = 0;
  std::optional<std::string_view> raw_data;
  std::vector<EntryProto> external_data;
  std::int64_t data_location = 0;
  bool has_segment = false;
  /// Of the typed field in use: its number (0: none) and at most how many numbers it can hold.
  std::uint32_t typed_field = 0;
  std::size_t most_typed = 0;
  Bytes message;  ///< all of it, to read the typed field from
};

struct SparseTensorProto {
  std::optional<Bytes> values, indices;
  std::vector<std::int64_t> dims;
};

struct ValueInfoProto {
  std::string_view name;
  std::optional<Bytes> type;
};

struct AttributeProto {
  std::string_view name, ref_attr_name;
  std::int64_t type = 0;
  std::int64_t i = 0;
  float f = 0;
  std::string_view s;
  std::optional<Bytes> t, g, sparse_tensor, tp;
  std::vector<std::int64_t> ints;
  std::vector<float> floats;
  std::vector<std::string_view> strings;
  std::vector<Bytes> tensors, graphs, sparse_tensors, type_protos;
  std::uint32_t fields_seen = 0;  ///< bit n: a value field of AttributeProto.AttributeType n was there
};

struct NodeProto {
  std::vector<std::string_view> inputs, outputs;
  std::string_view name, op_type, domain, overload;
  std::vector<AttributeProto> attributes;
};

struct GraphProto {
  std::string_view name;
  std::vector<Bytes> nodes, initializers, sparse_initializers, inputs, outputs, value_infos;
};

struct OperatorSetIdProto {
  std::string_view domain;
  std::int64_t version = 0;
};

struct FunctionProto {
  std::string_view name, domain, overload;
  std::vector<std::string_view> inputs, outputs, attribute_names;
  std::vector<AttributeProto> attribute_defaults;
  std::vector<Bytes> nodes, value_infos;
  std::vector<OperatorSetIdProto> opset_imports;
};

struct ModelProto {
  std::int64_t ir_version = 0, model_version = 0;
  std::vector<OperatorSetIdProto> opset_imports;
  std::string_view producer_name, producer_version, domain, doc_string;
  std::optional<Bytes> graph;
  std::vector<EntryProto> metadata;
  std::vector<Bytes> functions;
};

/// AttributeProto.AttributeType.
enum class AttributeType : std::uint8_t {
  kUndefined = 0,
  kFloat = 1,
  kInt = 2,
  kString = 3,
  kTensor = 4,
  kGraph = 5,
  kFloats = 6,
  kInts = 7,
  kStrings = 8,
  kTensors = 9,
  kGraphs = 10,
  kSparseTensor = 11,
  kSparseTensors = 12,
  kTypeProto = 13,
  kTypeProtos = 14,
};

TensorProto parse_tensor(Bytes message);
SparseTensorProto parse_sparse_tensor(Bytes message);
ValueInfoProto parse_value_info(Bytes message);
AttributeProto parse_attribute(Bytes message);
NodeProto parse_node(Bytes message);
GraphProto parse_graph(Bytes message);
FunctionProto parse_function(Bytes message);
ModelProto parse_model(Bytes message);
EntryProto parse_entry(Bytes message);

}  // namespace sardonyx::onnx
