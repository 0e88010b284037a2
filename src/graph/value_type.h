#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/dim.h"
#include "sardonyx/element_type.h"
#include "sardonyx/shape.h"

namespace sardonyx::graph {

/// What is known of a value before running.
struct ValueType {
  enum class Kind : std::uint8_t {
    kNone,      ///< nothing known; also the type of an input that was left out
    kTensor,
    kSequence,  ///< of `inner`
    kOptional,  ///< of `inner`
    kMap,       ///< from `element` (the keys' type) to `inner`
  };

  Kind kind = Kind::kNone;
  ElementType element = ElementType::kUndefined;  ///< tensor: element type, kUndefined when not yet known
  bool has_rank = false;                          ///< tensor: whether dims is known
  std::vector<Dim> dims;
  std::shared_ptr<const ValueType> inner;
  /// The elements of a small integer tensor of rank 0 or 1, where known as expressions: what shape arithmetic computes.
  std::optional<std::vector<Dim>> values;

  static ValueType tensor(ElementType element, std::vector<Dim> dims);
  static ValueType unranked(ElementType element);
  static ValueType of(ElementType element, const Shape& shape);
  static ValueType sequence(ValueType inner);
  static ValueType optional(ValueType inner);
  static ValueType map(ElementType key, ValueType inner);

  bool is_none() const { return kind == Kind::kNone; }
  bool is_tensor() const { return kind == Kind::kTensor; }
  std::size_t rank() const { return dims.size(); }
  /// The shape where every dimension is a constant.
  std::optional<Shape> static_shape() const;

  std::string to_string() const;  ///< "float[batch,3]", "seq(int64[?])"
};

/// Same kind, element type, rank and dimensions (the values field is not compared).
bool same_type(const ValueType& a, const ValueType& b);

}  // namespace sardonyx::graph
