#include "tests/conformance/model_scan.h"

#include <protozero/pbf_reader.hpp>

#include "base/fail.h"
#include "base/file_mapping.h"

// Field numbers are those of onnx.proto3.
namespace sardonyx::conformance {
namespace {

using Reader = protozero::pbf_reader;

std::vector<std::int64_t> scan_shape(Reader shape) {
  std::vector<std::int64_t> dims;
  while (shape.next(1)) {  // TensorShapeProto.dim
    Reader dim = shape.get_message();
    std::int64_t value = 1;
    while (dim.next()) {
      if (dim.tag() == 1)
        value = dim.get_int64();
      else
        dim.skip();
    }
    dims.push_back(value);
  }
  return dims;
}

void scan_type(Reader type, ModelScan::Port& port) {
  while (type.next()) {
    switch (type.tag()) {
      case 1: {  // tensor_type
        Reader tensor = type.get_message();
        while (tensor.next()) {
          if (tensor.tag() == 2)
            port.dims = scan_shape(tensor.get_message());
          else
            tensor.skip();
        }
        break;
      }
      case 4:
        port.kind = "sequence";
        type.skip();
        break;
      case 5:
        port.kind = "map";
        type.skip();
        break;
      case 9:
        port.kind = "optional";
        type.skip();
        break;
      default: type.skip();
    }
  }
}

ModelScan::Port scan_port(Reader value_info) {
  ModelScan::Port port;
  while (value_info.next()) {
    if (value_info.tag() == 1)
      port.name = value_info.get_string();
    else if (value_info.tag() == 2)
      scan_type(value_info.get_message(), port);
    else
      value_info.skip();
  }
  return port;
}

std::string scan_tensor_name(Reader tensor) {
  std::string name;
  while (tensor.next()) {
    if (tensor.tag() == 8)
      name = tensor.get_string();
    else
      tensor.skip();
  }
  return name;
}

void scan_graph(Reader graph, ModelScan& out, bool outermost);

void scan_attribute(Reader attribute, ModelScan& out) {
  while (attribute.next()) {
    if (attribute.tag() == 6 || attribute.tag() == 11)
      scan_graph(attribute.get_message(), out, false);  // g, graphs
    else
      attribute.skip();
  }
}

void scan_node(Reader node, ModelScan& out) {
  std::string type, domain;
  while (node.next()) {
    switch (node.tag()) {
      case 4: type = node.get_string(); break;
      case 5: scan_attribute(node.get_message(), out); break;
      case 7: domain = node.get_string(); break;
      default: node.skip();
    }
  }
  out.operators.insert(domain.empty() || domain == "ai.onnx" ? type : domain + "." + type);
}

void scan_graph(Reader graph, ModelScan& out, bool outermost) {
  while (graph.next()) {
    const auto tag = graph.tag();
    if (tag == 1)
      scan_node(graph.get_message(), out);
    else if (outermost && tag == 5)
      out.initializers.insert(scan_tensor_name(graph.get_message()));
    else if (outermost && tag == 11)
      out.inputs.push_back(scan_port(graph.get_message()));
    else if (outermost && tag == 12)
      out.outputs.push_back(scan_port(graph.get_message()));
    else
      graph.skip();
  }
}

void scan_function(Reader function, ModelScan& out) {
  while (function.next()) {
    if (function.tag() == 7)
      scan_node(function.get_message(), out);
    else
      function.skip();
  }
}

}  // namespace

ModelScan scan_model(const std::filesystem::path& path) {
  const FileMapping file(path.string());
  ModelScan out;
  try {
    Reader model(file.text().data(), file.size());
    while (model.next()) {
      if (model.tag() == 7)
        scan_graph(model.get_message(), out, true);
      else if (model.tag() == 25)
        scan_function(model.get_message(), out);
      else
        model.skip();
    }
  } catch (const protozero::exception& error) {
    fail(ErrorCode::kInvalidModel, "expected an ONNX file in '{}', but the protobuf is broken: {}", path.string(),
         error.what());
  }
  return out;
}

}  // namespace sardonyx::conformance
