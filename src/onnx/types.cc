#include "onnx/types.h"

#include <string>
#include <utility>

#include "base/fail.h"
#include "onnx/context.h"
#include "onnx/tensor_decode.h"
#include "onnx/wire.h"

namespace sardonyx::onnx {
namespace {

using graph::Dim;
using graph::SymbolTable;
using graph::ValueType;

ValueType parse_nested(Bytes message, SymbolTable& symbols, int depth);

/// Whether a dimension's name says that it equals others of that name. Exporters also write "?" or "None" for each one unknown.
bool is_symbol(std::string_view name) {
  return name != "None" && name.find_first_not_of("?*-. ") != std::string_view::npos;
}

Dim parse_dim(Bytes message, SymbolTable& symbols) {
  std::optional<Dim> dim;
  MessageReader reader(message, "TensorShapeProto.Dimension");
  while (reader.next()) {
    if (reader.field() == 1) {
      const std::int64_t value = reader.as_int();
      if (value < -1) fail(ErrorCode::kInvalidModel, "a dimension is negative: {}", value);
      dim = value == -1 ? symbols.fresh() : Dim(value);
    } else if (reader.field() == 2) {
      const std::string_view name = reader.as_bytes();
      dim = is_symbol(name) ? symbols.named(std::string(name)) : symbols.fresh();
    }
  }
  return dim ? *dim : symbols.fresh();
}

std::vector<Dim> parse_shape(Bytes message, SymbolTable& symbols) {
  std::vector<Dim> dims;
  MessageReader reader(message, "TensorShapeProto");
  while (reader.next()) {
    if (reader.field() == 1) dims.push_back(parse_dim(reader.as_bytes(), symbols));
  }
  return dims;
}

ValueType parse_tensor_type(Bytes message, SymbolTable& symbols) {
  ElementType element = ElementType::kUndefined;
  std::optional<Bytes> shape;
  MessageReader reader(message, "TypeProto.Tensor");
  while (reader.next()) {
    if (reader.field() == 1 && reader.as_int() != 0) element = to_element_type(reader.as_int());
    if (reader.field() == 2) shape = reader.as_bytes();
  }
  return shape ? ValueType::tensor(element, parse_shape(*shape, symbols)) : ValueType::unranked(element);
}

/// Sequence and Optional have their element's type in field 1; Map has the keys' type there and the values' in field 2.
ValueType parse_container(Bytes message, std::uint32_t kind, SymbolTable& symbols, int depth) {
  constexpr std::uint32_t kMap = 5;
  ElementType key = ElementType::kUndefined;
  ValueType inner;
  MessageReader reader(message, "TypeProto");
  while (reader.next()) {
    if (kind == kMap && reader.field() == 1) {
      key = to_element_type(reader.as_int());
    } else if (reader.field() == (kind == kMap ? 2u : 1u)) {
      inner = parse_nested(reader.as_bytes(), symbols, depth + 1);
    }
  }
  if (kind == kMap) return ValueType::map(key, std::move(inner));
  return kind == 4 ? ValueType::sequence(std::move(inner)) : ValueType::optional(std::move(inner));
}

ValueType parse_nested(Bytes message, SymbolTable& symbols, int depth) {
  if (depth > kDeepestNesting) fail(ErrorCode::kInvalidModel, "types are nested more than {} deep", kDeepestNesting);
  ValueType type;
  MessageReader reader(message, "TypeProto");
  while (reader.next()) {
    switch (reader.field()) {
      case 1: type = parse_tensor_type(reader.as_bytes(), symbols); break;
      case 4:
      case 5:
      case 9: type = parse_container(reader.as_bytes(), reader.field(), symbols, depth); break;
      case 8: fail(ErrorCode::kUnsupported, "values of sparse tensor type are not supported");
      default: break;
    }
  }
  return type;
}

}  // namespace

graph::ValueType parse_type(Bytes message, SymbolTable& symbols) { return parse_nested(message, symbols, 0); }

graph::ValueType type_of(const ValueInfoProto& info, SymbolTable& symbols) {
  if (!info.type) return {};
  return in_context([&] { return "the type of '" + std::string(info.name) + "'"; },
                    [&] { return parse_type(*info.type, symbols); });
}

}  // namespace sardonyx::onnx
