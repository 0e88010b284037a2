#include "onnx/proto.h"

#include <fmt/core.h>

#include "base/fail.h"
#include "onnx/context.h"
#include "onnx/wire.h"

namespace sardonyx::onnx {
namespace {

/// Protobuf would merge a message field that is given twice; no writer of ONNX does that.
void set_once(std::optional<Bytes>& field, const MessageReader& reader, const char* name) {
  if (field) fail(ErrorCode::kInvalidModel, "the message field '{}' is given twice", name);
  field = reader.as_bytes();
}

OperatorSetIdProto parse_opset(Bytes message) {
  OperatorSetIdProto opset;
  MessageReader reader(message, "OperatorSetIdProto");
  while (reader.next()) {
    if (reader.field() == 1) opset.domain = reader.as_bytes();
    if (reader.field() == 2) opset.version = reader.as_int();
  }
  return opset;
}

void note_typed(TensorProto& tensor, const MessageReader& reader, std::size_t element_bytes) {
  const std::size_t most = reader.most_elements(element_bytes);
  if (most == 0) return;
  if (tensor.typed_field != 0 && tensor.typed_field != reader.field()) {
    fail(ErrorCode::kInvalidModel, "a tensor's elements must stand in one field, but are in fields {} and {}",
         tensor.typed_field, reader.field());
  }
  tensor.typed_field = reader.field();
  tensor.most_typed += most;
}

}  // namespace

EntryProto parse_entry(Bytes message) {
  EntryProto entry;
  MessageReader reader(message, "StringStringEntryProto");
  while (reader.next()) {
    if (reader.field() == 1) entry.key = reader.as_bytes();
    if (reader.field() == 2) entry.value = reader.as_bytes();
  }
  return entry;
}

TensorProto parse_tensor(Bytes message) {
  TensorProto tensor;
  tensor.message = message;
  MessageReader reader(message, "TensorProto");
  while (reader.next()) {
    switch (reader.field()) {
      case 1: reader.append_ints(tensor.dims); break;
      case 2: tensor.data_type = reader.as_int(); break;
      case 3: tensor.has_segment = true; break;
      case 4: note_typed(tensor, reader, sizeof(float)); break;
      case 5: note_typed(tensor, reader, 1); break;
      case 6:
        reader.as_bytes();
        tensor.typed_field = tensor.typed_field == 0 ? 6 : tensor.typed_field;
        ++tensor.most_typed;
        break;
      case 7: note_typed(tensor, reader, 1); break;
      case 8: tensor.name = reader.as_bytes(); break;
      case 9: tensor.raw_data = reader.as_bytes(); break;
      case 10: note_typed(tensor, reader, sizeof(double)); break;
      case 11: note_typed(tensor, reader, 1); break;
      case 13: tensor.external_data.push_back(parse_entry(reader.as_bytes())); break;
      case 14: tensor.data_location = reader.as_int(); break;
      default: break;
    }
  }
  return tensor;
}

SparseTensorProto parse_sparse_tensor(Bytes message) {
  SparseTensorProto tensor;
  MessageReader reader(message, "SparseTensorProto");
  while (reader.next()) {
    switch (reader.field()) {
      case 1: set_once(tensor.values, reader, "values"); break;
      case 2: set_once(tensor.indices, reader, "indices"); break;
      case 3: reader.append_ints(tensor.dims); break;
      default: break;
    }
  }
  return tensor;
}

ValueInfoProto parse_value_info(Bytes message) {
  ValueInfoProto info;
  MessageReader reader(message, "ValueInfoProto");
  while (reader.next()) {
    if (reader.field() == 1) info.name = reader.as_bytes();
    if (reader.field() == 2) set_once(info.type, reader, "type");
  }
  return info;
}

AttributeProto parse_attribute(Bytes message) {
  AttributeProto attribute;
  MessageReader reader(message, "AttributeProto");
  const auto seen = [&](AttributeType type) { attribute.fields_seen |= 1u << static_cast<unsigned>(type); };
  while (reader.next()) {
    switch (reader.field()) {
      case 1: attribute.name = reader.as_bytes(); break;
      case 2: attribute.f = reader.as_float(), seen(AttributeType::kFloat); break;
      case 3: attribute.i = reader.as_int(), seen(AttributeType::kInt); break;
      case 4: attribute.s = reader.as_bytes(), seen(AttributeType::kString); break;
      case 5: set_once(attribute.t, reader, "t"), seen(AttributeType::kTensor); break;
      case 6: set_once(attribute.g, reader, "g"), seen(AttributeType::kGraph); break;
      case 7: reader.append_floats(attribute.floats), seen(AttributeType::kFloats); break;
      case 8: reader.append_ints(attribute.ints), seen(AttributeType::kInts); break;
      case 9: attribute.strings.push_back(reader.as_bytes()), seen(AttributeType::kStrings); break;
      case 10: attribute.tensors.push_back(reader.as_bytes()), seen(AttributeType::kTensors); break;
      case 11: attribute.graphs.push_back(reader.as_bytes()), seen(AttributeType::kGraphs); break;
      case 14: set_once(attribute.tp, reader, "tp"), seen(AttributeType::kTypeProto); break;
      case 15: attribute.type_protos.push_back(reader.as_bytes()), seen(AttributeType::kTypeProtos); break;
      case 20: attribute.type = reader.as_int(); break;
      case 21: attribute.ref_attr_name = reader.as_bytes(); break;
      case 22: set_once(attribute.sparse_tensor, reader, "sparse_tensor"), seen(AttributeType::kSparseTensor); break;
      case 23: attribute.sparse_tensors.push_back(reader.as_bytes()), seen(AttributeType::kSparseTensors); break;
      default: break;
    }
  }
  return attribute;
}

NodeProto parse_node(Bytes message) {
  NodeProto node;
  MessageReader reader(message, "NodeProto");
  while (reader.next()) {
    switch (reader.field()) {
      case 1: node.inputs.push_back(reader.as_bytes()); break;
      case 2: node.outputs.push_back(reader.as_bytes()); break;
      case 3: node.name = reader.as_bytes(); break;
      case 4: node.op_type = reader.as_bytes(); break;
      case 5:
        in_context([&] { return fmt::format("an attribute of node '{}' ({})", node.name, node.op_type); },
                   [&] { node.attributes.push_back(parse_attribute(reader.as_bytes())); });
        break;
      case 7: node.domain = reader.as_bytes(); break;
      case 8: node.overload = reader.as_bytes(); break;
      default: break;
    }
  }
  return node;
}

GraphProto parse_graph(Bytes message) {
  GraphProto graph;
  MessageReader reader(message, "GraphProto");
  while (reader.next()) {
    switch (reader.field()) {
      case 1: graph.nodes.push_back(reader.as_bytes()); break;
      case 2: graph.name = reader.as_bytes(); break;
      case 5: graph.initializers.push_back(reader.as_bytes()); break;
      case 11: graph.inputs.push_back(reader.as_bytes()); break;
      case 12: graph.outputs.push_back(reader.as_bytes()); break;
      case 13: graph.value_infos.push_back(reader.as_bytes()); break;
      case 15: graph.sparse_initializers.push_back(reader.as_bytes()); break;
      default: break;
    }
  }
  return graph;
}

FunctionProto parse_function(Bytes message) {
  FunctionProto function;
  MessageReader reader(message, "FunctionProto");
  while (reader.next()) {
    switch (reader.field()) {
      case 1: function.name = reader.as_bytes(); break;
      case 4: function.inputs.push_back(reader.as_bytes()); break;
      case 5: function.outputs.push_back(reader.as_bytes()); break;
      case 6: function.attribute_names.push_back(reader.as_bytes()); break;
      case 7: function.nodes.push_back(reader.as_bytes()); break;
      case 9: function.opset_imports.push_back(parse_opset(reader.as_bytes())); break;
      case 10: function.domain = reader.as_bytes(); break;
      case 11: function.attribute_defaults.push_back(parse_attribute(reader.as_bytes())); break;
      case 12: function.value_infos.push_back(reader.as_bytes()); break;
      case 13: function.overload = reader.as_bytes(); break;
      default: break;
    }
  }
  return function;
}

ModelProto parse_model(Bytes message) {
  ModelProto model;
  MessageReader reader(message, "ModelProto");
  while (reader.next()) {
    switch (reader.field()) {
      case 1: model.ir_version = reader.as_int(); break;
      case 2: model.producer_name = reader.as_bytes(); break;
      case 3: model.producer_version = reader.as_bytes(); break;
      case 4: model.domain = reader.as_bytes(); break;
      case 5: model.model_version = reader.as_int(); break;
      case 6: model.doc_string = reader.as_bytes(); break;
      case 7: set_once(model.graph, reader, "graph"); break;
      case 8: model.opset_imports.push_back(parse_opset(reader.as_bytes())); break;
      case 14: model.metadata.push_back(parse_entry(reader.as_bytes())); break;
      case 25: model.functions.push_back(reader.as_bytes()); break;
      default: break;
    }
  }
  return model;
}

}  // namespace sardonyx::onnx
