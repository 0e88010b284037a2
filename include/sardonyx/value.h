#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "sardonyx/tensor.h"

namespace sardonyx {

class Value;

/// A list of values of one type. Element tensors may differ in shape.
struct Sequence {
  ElementType element_type = ElementType::kUndefined;  ///< of the element tensors; kUndefined when they aren't tensors
  std::vector<Value> items;
};

/// A dictionary as ONNX-ML has it: keys are int64 or string (a 1-D tensor), values are one per key, in the keys' order.
struct Map {
  Tensor keys;
  std::vector<Value> values;
};

/// What flows along an edge at run time: nothing (an empty optional or a left-out input), a tensor, a sequence or a map.
/// An optional that holds something is that thing itself. Copying shares; contents are not to be changed once shared.
class Value {
 public:
  Value() = default;
  Value(Tensor tensor) : data_(std::move(tensor)) {}  // NOLINT(google-explicit-constructor)
  Value(Sequence sequence);                           // NOLINT(google-explicit-constructor)
  Value(Map map);                                     // NOLINT(google-explicit-constructor)

  bool is_none() const { return std::holds_alternative<std::monostate>(data_); }
  bool is_tensor() const { return std::holds_alternative<Tensor>(data_); }
  bool is_sequence() const { return std::holds_alternative<std::shared_ptr<const Sequence>>(data_); }
  bool is_map() const { return std::holds_alternative<std::shared_ptr<const Map>>(data_); }

  /// Each throws kInvalidArgument naming what the value is when it is something else.
  const Tensor& tensor() const;
  const Sequence& sequence() const;
  const Map& map() const;

  const char* kind_name() const;  ///< "nothing", "tensor", "sequence" or "map"

 private:
  std::variant<std::monostate, Tensor, std::shared_ptr<const Sequence>, std::shared_ptr<const Map>> data_;
};

}  // namespace sardonyx
