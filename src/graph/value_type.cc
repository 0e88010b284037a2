#include "graph/value_type.h"

#include <utility>

namespace sardonyx::graph {

ValueType ValueType::tensor(ElementType element, std::vector<Dim> dims) {
  ValueType type;
  type.kind = Kind::kTensor;
  type.element = element;
  type.has_rank = true;
  type.dims = std::move(dims);
  return type;
}

ValueType ValueType::unranked(ElementType element) {
  ValueType type;
  type.kind = Kind::kTensor;
  type.element = element;
  return type;
}

ValueType ValueType::of(ElementType element, const Shape& shape) {
  return tensor(element, std::vector<Dim>(shape.begin(), shape.end()));
}

ValueType ValueType::sequence(ValueType inner) {
  ValueType type;
  type.kind = Kind::kSequence;
  type.inner = std::make_shared<const ValueType>(std::move(inner));
  return type;
}

ValueType ValueType::optional(ValueType inner) {
  ValueType type = sequence(std::move(inner));
  type.kind = Kind::kOptional;
  return type;
}

ValueType ValueType::map(ElementType key, ValueType inner) {
  ValueType type = sequence(std::move(inner));
  type.kind = Kind::kMap;
  type.element = key;
  return type;
}

std::optional<Shape> ValueType::static_shape() const {
  if (!is_tensor() || !has_rank) return std::nullopt;
  Shape shape;
  for (const Dim& dim : dims) {
    if (!dim.is_constant()) return std::nullopt;
    shape.push_back(dim.constant());
  }
  return shape;
}

std::string ValueType::to_string() const {
  const auto inner_text = [this] { return inner ? inner->to_string() : std::string("?"); };
  switch (kind) {
    case Kind::kNone: return "none";
    case Kind::kSequence: return "seq(" + inner_text() + ")";
    case Kind::kOptional: return "optional(" + inner_text() + ")";
    case Kind::kMap: return "map(" + std::string(name(element)) + "," + inner_text() + ")";
    case Kind::kTensor: break;
  }
  std::string text(name(element));
  if (!has_rank) return text + "[...]";
  text += '[';
  for (std::size_t i = 0; i < dims.size(); ++i) text += (i ? "," : "") + dims[i].to_string();
  return text + ']';
}

bool same_type(const ValueType& a, const ValueType& b) {
  if (a.kind != b.kind || a.element != b.element || a.has_rank != b.has_rank || a.dims != b.dims) return false;
  if (!a.inner || !b.inner) return !a.inner == !b.inner;
  return same_type(*a.inner, *b.inner);
}

}  // namespace sardonyx::graph
