#include "sardonyx/value.h"

#include <utility>

#include "base/fail.h"

namespace sardonyx {

Value::Value(Sequence sequence) : data_(std::make_shared<const Sequence>(std::move(sequence))) {}
Value::Value(Map map) : data_(std::make_shared<const Map>(std::move(map))) {}

const Tensor& Value::tensor() const {
  if (!is_tensor()) fail(ErrorCode::kInvalidArgument, "expected a tensor, found {}", kind_name());
  return std::get<Tensor>(data_);
}

const Sequence& Value::sequence() const {
  if (!is_sequence()) fail(ErrorCode::kInvalidArgument, "expected a sequence, found {}", kind_name());
  return *std::get<std::shared_ptr<const Sequence>>(data_);
}

const Map& Value::map() const {
  if (!is_map()) fail(ErrorCode::kInvalidArgument, "expected a map, found {}", kind_name());
  return *std::get<std::shared_ptr<const Map>>(data_);
}

const char* Value::kind_name() const {
  if (is_tensor()) return "tensor";
  if (is_sequence()) return "sequence";
  if (is_map()) return "map";
  return "nothing";
}

}  // namespace sardonyx
