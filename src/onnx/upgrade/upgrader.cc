#include "onnx/upgrade/upgrader.h"

#include <fmt/core.h>
#include <utility>

#include "base/fail.h"
#include "base/numeric/numeric.h"
#include "onnx/upgrade/upgrade_list.h"
#include "ops/infer.h"
#include "ops/op_list.h"

namespace sardonyx::onnx {
namespace {

const ValueType kNoType;

template <typename T>
Tensor to_scalar(double value) {
  return Tensor::scalar(static_cast<T>(value));
}

/// A scalar of a numeric type; undefined for the types that no upgrade needs.
Tensor make_scalar(ElementType type, double value) {
  switch (type) {
    case ElementType::kFloat32: return to_scalar<float>(value);
    case ElementType::kFloat64: return to_scalar<double>(value);
    case ElementType::kFloat16: return Tensor::scalar(Half(static_cast<float>(value)));
    case ElementType::kBFloat16: return Tensor::scalar(BFloat16(static_cast<float>(value)));
    case ElementType::kInt8: return to_scalar<std::int8_t>(value);
    case ElementType::kInt16: return to_scalar<std::int16_t>(value);
    case ElementType::kInt32: return to_scalar<std::int32_t>(value);
    case ElementType::kInt64: return to_scalar<std::int64_t>(value);
    case ElementType::kUInt8: return to_scalar<std::uint8_t>(value);
    case ElementType::kUInt16: return to_scalar<std::uint16_t>(value);
    case ElementType::kUInt32: return to_scalar<std::uint32_t>(value);
    case ElementType::kUInt64: return to_scalar<std::uint64_t>(value);
    default: return {};
  }
}

}  // namespace

const ValueType& Upgrader::type(ValueId value) const {
  return value == graph::kNoValue ? kNoType : graph_.value(value).type;
}

std::optional<std::size_t> Upgrader::rank(ValueId value) const {
  const ValueType& known = type(value);
  return known.is_tensor() && known.has_rank ? std::optional(known.rank()) : std::nullopt;
}

std::string Upgrader::next_name(const char* op_type) { return fmt::format("{}/{}_{}", place_, op_type, made_++); }

/// A required output may be left out where nothing reads it, but is made all the same.
void Upgrader::complete_outputs(Node& node) {
  const ops::Signature* signature = ops::find_signature(node.domain, node.op_type);
  if (!signature) return;
  for (std::size_t i = 0; i < node.outputs.size() && i < signature->outputs.size(); ++i) {
    if (signature->outputs[i].kind != ops::Port::Kind::kRequired || node.outputs[i] != graph::kNoValue) continue;
    node.outputs[i] = graph_.add_value(fmt::format("{}/unused_{}", place_, i));
  }
}

void Upgrader::emit(Node node) {
  complete_outputs(node);
  Node& added = graph_.add_node(std::move(node));
  ops::infer_node(model_, graph_, added, nullptr);
}

ValueId Upgrader::add(const char* op_type, std::vector<ValueId> inputs, Attributes attributes) {
  Node node;
  node.op_type = op_type;
  node.name = next_name(op_type);
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  const ValueId output = graph_.add_value(node.name);
  node.outputs = {output};
  emit(std::move(node));
  return output;
}

void Upgrader::add_as(const Node& old, const char* op_type, std::vector<ValueId> inputs, Attributes attributes) {
  Node node;
  node.op_type = op_type;
  node.name = old.name;
  node.inputs = std::move(inputs);
  node.outputs = old.outputs;
  node.attributes = std::move(attributes);
  emit(std::move(node));
}

ValueId Upgrader::shape_of(ValueId value) { return add("Shape", {value}); }

ValueId Upgrader::rank_of(ValueId value) { return add("Shape", {shape_of(value)}); }

ValueId Upgrader::ones(ValueId count) {
  const std::int64_t one = 1;
  return add("ConstantOfShape", {count}, attributes_of({{"value", Tensor::from<std::int64_t>({1}, {&one, 1})}}));
}

ValueId Upgrader::add_constant(Tensor tensor) {
  return model_.add_constant_value(graph_, next_name("Constant"), std::move(tensor));
}

ValueId Upgrader::ints(const std::vector<std::int64_t>& values) {
  return add_constant(Tensor::from<std::int64_t>({static_cast<std::int64_t>(values.size())}, values));
}

ValueId Upgrader::int_scalar(std::int64_t value) { return add_constant(Tensor::scalar(value)); }

ValueId Upgrader::floats(const std::vector<float>& values) {
  return add_constant(Tensor::from<float>({static_cast<std::int64_t>(values.size())}, values));
}

ValueId Upgrader::scalar_like(double value, ValueId like) {
  const ElementType element = this->element(like);
  if (element == ElementType::kUndefined)
    return add("CastLike", {add_constant(Tensor::scalar(static_cast<float>(value))), like});
  Tensor scalar = make_scalar(element, value);
  if (!scalar.defined())
    fail(ErrorCode::kInvalidModel, "a number is needed, but the input has element type {}", name(element));
  return add_constant(std::move(scalar));
}

Attributes attributes_of(std::initializer_list<std::pair<std::string, graph::Attribute>> items) {
  Attributes attributes;
  for (const auto& [name, value] : items) attributes.set(name, value);
  return attributes;
}

void upgrade_node(Upgrader& upgrader, Node node) {
  constexpr std::int64_t kFirstWithoutConsumedInputs = 6;
  if (node.domain.empty() && upgrader.version() < kFirstWithoutConsumedInputs) node.attributes.erase("consumed_inputs");
  if (const UpgradeFn upgrade = find_upgrade(node.domain, node.op_type, upgrader.version()))
    return upgrade(upgrader, std::move(node));
  upgrader.emit(std::move(node));
}

}  // namespace sardonyx::onnx
