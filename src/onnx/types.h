#pragma once

#include "graph/model.h"
#include "onnx/proto.h"

namespace sardonyx::onnx {

/// The ValueType of a serialized TypeProto. Named dimensions become symbols of `symbols`; dimensions that are not
/// given, or are -1 as some exporters write, become fresh ones. Throws kInvalidModel, or kUnsupported for sparse
/// tensors.
graph::ValueType parse_type(Bytes message, graph::SymbolTable& symbols);

/// The type of a value; nothing known where the file gives none.
graph::ValueType type_of(const ValueInfoProto& info, graph::SymbolTable& symbols);

}  // namespace sardonyx::onnx
