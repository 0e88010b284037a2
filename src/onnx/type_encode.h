#pragma once

#include <string>

#include "graph/value_type.h"

namespace sardonyx::onnx {

/// A serialized TypeProto; "" where nothing is known. Dimensions that are symbols keep their names; those that nothing
/// names, and expressions, are left open.
std::string encode_type(const graph::ValueType& type);

/// A serialized ValueInfoProto.
std::string encode_value_info(const std::string& name, const graph::ValueType& type);

}  // namespace sardonyx::onnx
