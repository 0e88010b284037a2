#pragma once

#include <map>
#include <optional>
#include <string>

#include "graph/attribute.h"
#include "graph/model.h"
#include "onnx/proto.h"
#include "onnx/tensor_decode.h"

namespace sardonyx::onnx {

/// The attributes that a call gives a function, by name: what `ref_attr_name` in its body stands for.
using AttributeBindings = std::map<std::string, graph::Attribute, std::less<>>;

/// The type an attribute's value has; for files of IR 1, which do not say it, the one that its value field shows.
/// Throws kInvalidModel when type and value differ.
AttributeType type_of(const AttributeProto& proto);

/// The value of an attribute that holds no graph. Throws kInvalidModel naming the attribute.
graph::Attribute to_attribute(const AttributeProto& proto, TensorDecoder& tensors, graph::SymbolTable& symbols);

}  // namespace sardonyx::onnx
