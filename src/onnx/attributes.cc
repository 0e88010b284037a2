#include "onnx/attributes.h"

#include <bit>
#include <utility>

#include "base/fail.h"
#include "onnx/types.h"

namespace sardonyx::onnx {
namespace {

constexpr int kTypeCount = 15;

Bytes require(const std::optional<Bytes>& field) {
  if (!field) fail(ErrorCode::kInvalidModel, "the value is missing");
  return *field;
}

graph::SparseTensor to_sparse(Bytes message, TensorDecoder& tensors) {
  TensorDecoder::Sparse sparse = tensors.decode_sparse(parse_sparse_tensor(message));
  return {std::move(sparse.values), std::move(sparse.indices), std::move(sparse.shape)};
}

}  // namespace

AttributeType type_of(const AttributeProto& proto) {
  const std::uint32_t seen = proto.fields_seen;
  if (proto.type < 0 || proto.type >= kTypeCount) {
    fail(ErrorCode::kInvalidModel, "attribute '{}' has the unknown type {}", proto.name, proto.type);
  }
  if (proto.type == 0) {
    if (std::popcount(seen) != 1) fail(ErrorCode::kInvalidModel, "attribute '{}' does not say its type", proto.name);
    return static_cast<AttributeType>(std::countr_zero(seen));
  }
  if (seen != 0 && (seen & (1u << proto.type)) == 0) {
    fail(ErrorCode::kInvalidModel, "attribute '{}' says it has type {}, but holds a value of type {}", proto.name,
         proto.type, std::countr_zero(seen));
  }
  return static_cast<AttributeType>(proto.type);
}

graph::Attribute to_attribute(const AttributeProto& proto, TensorDecoder& tensors, graph::SymbolTable& symbols) {
  switch (type_of(proto)) {
    case AttributeType::kFloat: return proto.f;
    case AttributeType::kInt: return proto.i;
    case AttributeType::kString: return std::string(proto.s);
    case AttributeType::kTensor: return tensors.decode(parse_tensor(require(proto.t)));
    case AttributeType::kFloats: return proto.floats;
    case AttributeType::kInts: return proto.ints;
    case AttributeType::kStrings: return std::vector<std::string>(proto.strings.begin(), proto.strings.end());
    case AttributeType::kTensors: {
      std::vector<Tensor> list;
      for (Bytes tensor : proto.tensors) list.push_back(tensors.decode(parse_tensor(tensor)));
      return list;
    }
    case AttributeType::kSparseTensor: return to_sparse(require(proto.sparse_tensor), tensors);
    case AttributeType::kTypeProto: return parse_type(require(proto.tp), symbols);
    default: break;
  }
  fail(ErrorCode::kUnsupported, "attribute '{}': values of type {} are not supported", proto.name, proto.type);
}

}  // namespace sardonyx::onnx
