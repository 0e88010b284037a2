#include "onnx/scope.h"

#include "base/fail.h"

namespace sardonyx::onnx {

using graph::kNoValue;
using graph::ValueId;
using graph::ValueInfo;

std::optional<ValueId> Scope::find(std::string_view name) {
  const auto known = values_.find(name);
  if (known != values_.end()) return known->second;
  if (!enclosing_) return std::nullopt;
  const std::optional<ValueId> outer = enclosing_->find(name);
  if (!outer) return std::nullopt;
  ValueId inner = kNoValue;
  if (*outer != kNoValue) {
    const ValueInfo& info = enclosing_->graph().value(*outer);
    if (info.is_constant()) {
      inner = graph_.add_constant(info.name, info.constant, info.type);
    } else {
      inner = graph_.add_value(info.name, info.type);
      captures_.push_back({*outer, inner});
    }
  }
  values_.emplace(name, inner);
  return inner;
}

void Scope::define(std::string_view name, ValueId value) {
  if (!values_.emplace(name, value).second) {
    fail(ErrorCode::kInvalidModel, "the value '{}' is defined twice", name);
  }
}

}  // namespace sardonyx::onnx
