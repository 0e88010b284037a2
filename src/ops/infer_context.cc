#include "ops/infer_context.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/fail.h"

namespace sardonyx::ops {
namespace {

const ValueType kNoType;

template <typename T>
void append(const TensorView& tensor, std::vector<std::int64_t>& out) {
  const T* data = tensor.data<T>();
  out.assign(data, data + tensor.num_elements());
}

}  // namespace

std::vector<std::int64_t> to_int64s(const TensorView& tensor) {
  std::vector<std::int64_t> out;
  switch (tensor.type) {
    case ElementType::kInt64: append<std::int64_t>(tensor, out); break;
    case ElementType::kInt32: append<std::int32_t>(tensor, out); break;
    case ElementType::kInt16: append<std::int16_t>(tensor, out); break;
    case ElementType::kInt8: append<std::int8_t>(tensor, out); break;
    case ElementType::kUInt8: append<std::uint8_t>(tensor, out); break;
    case ElementType::kUInt16: append<std::uint16_t>(tensor, out); break;
    case ElementType::kUInt32: append<std::uint32_t>(tensor, out); break;
    case ElementType::kUInt64: append<std::uint64_t>(tensor, out); break;
    case ElementType::kBool: append<bool>(tensor, out); break;
    default: fail(ErrorCode::kInvalidModel, "expected an integer tensor, found {}", name(tensor.type));
  }
  return out;
}

InferContext::InferContext(const graph::NodeDesc& node, std::size_t num_outputs, graph::SymbolTable& symbols,
                           std::vector<Constraint>* constraints, BodyInference infer_body)
    : node_(node),
      symbols_(symbols),
      constraints_(constraints),
      infer_body_(std::move(infer_body)),
      outputs_(num_outputs) {}

const ValueType& InferContext::input(std::size_t i) const {
  return i < node_.inputs.size() ? node_.inputs[i] : kNoType;
}

std::optional<std::vector<Dim>> InferContext::values(std::size_t i) const {
  if (const Tensor* tensor = constant(i)) {
    const bool usable = is_integer(tensor->type()) && tensor->shape().rank() <= 1 && !is_sub_byte(tensor->type());
    if (usable && static_cast<std::size_t>(tensor->num_elements()) <= kMaxTrackedValues) {
      const std::vector<std::int64_t> numbers = to_int64s(tensor->view());
      return std::vector<Dim>(numbers.begin(), numbers.end());
    }
    return std::nullopt;
  }
  return input(i).values;
}

std::optional<std::vector<std::int64_t>> InferContext::int_values(std::size_t i) const {
  const auto known = values(i);
  if (!known) return std::nullopt;
  std::vector<std::int64_t> numbers;
  for (const Dim& dim : *known) {
    if (!dim.is_constant()) return std::nullopt;
    numbers.push_back(dim.constant());
  }
  return numbers;
}

std::optional<std::vector<float>> InferContext::float_values(std::size_t i) const {
  const Tensor* tensor = constant(i);
  if (!tensor) return std::nullopt;
  const auto count = static_cast<std::size_t>(tensor->num_elements());
  if (tensor->type() == ElementType::kFloat32)
    return std::vector<float>(tensor->data<float>(), tensor->data<float>() + count);
  if (tensor->type() == ElementType::kFloat64) {
    std::vector<float> out(count);
    std::transform(tensor->data<double>(), tensor->data<double>() + count, out.begin(),
                   [](double x) { return static_cast<float>(x); });
    return out;
  }
  return std::nullopt;
}

const ValueType& InferContext::tensor(std::size_t i) const {
  const ValueType& type = input(i);
  if (type.is_none()) fail(ErrorCode::kInvalidModel, "input {} is required and left out", i);
  if (!type.is_tensor()) fail(ErrorCode::kInvalidModel, "input {} must be a tensor, but it is {}", i, type.to_string());
  return type;
}

void InferContext::require(bool condition, const std::string& message) const {
  if (!condition) throw Error(ErrorCode::kInvalidModel, message);
}

void InferContext::require_rank(std::size_t i, std::size_t wanted) const {
  if (has_rank(i) && rank(i) != wanted) {
    fail(ErrorCode::kInvalidModel, "input {} must have rank {}, but its type is {}", i, wanted, input(i).to_string());
  }
}

std::size_t InferContext::axis(std::int64_t value, std::size_t rank) const {
  const auto n = static_cast<std::int64_t>(rank);
  if (value < -n || value >= n) fail(ErrorCode::kInvalidModel, "axis {} is outside a tensor of rank {}", value, rank);
  return static_cast<std::size_t>(value < 0 ? value + n : value);
}

std::size_t InferContext::axis_attribute(const char* attribute, std::int64_t fallback, std::size_t rank) const {
  return axis(attributes().get_int(attribute, fallback), rank);
}

std::vector<Dim> InferContext::fresh_dims(std::size_t rank, const std::string& hint) {
  if (rank > kMaxRank)
    fail(ErrorCode::kUnsupported, "an output would have rank {}; the highest that is supported is {}", rank, kMaxRank);
  std::vector<Dim> dims;
  for (std::size_t i = 0; i < rank; ++i) dims.push_back(fresh(hint));
  return dims;
}

Dim InferContext::same(const Dim& a, const Dim& b, const std::string& what) {
  if (a == b) return a;
  if (a.is_constant() && b.is_constant()) {
    fail(ErrorCode::kInvalidModel, "{} must be equal, but one is {} and the other {}", what, a.constant(),
         b.constant());
  }
  if (constraints_) constraints_->push_back({Constraint::Kind::kEqual, a, b, what});
  return b.is_constant() ? b : a;
}

void InferContext::require_multiple(const Dim& a, const Dim& b, const std::string& what) {
  require(!b.is(0), what + ": a size is 0");
  if (a == b || b.is(1)) return;
  same(graph::floor_div(a, b) * b, a, what);
}

void InferContext::require_at_most(const Dim& a, const Dim& b, const std::string& what) {
  if (a == b) return;
  same(graph::max(a, b), b, what);
}

void InferContext::require_broadcasts_to(const Dim& a, const Dim& b, const std::string& what) {
  if (a == b || a.is(1)) return;
  if (a.is_constant() && b.is_constant()) {
    fail(ErrorCode::kInvalidModel, "{}: {} does not broadcast to {}", what, a.constant(), b.constant());
  }
  if (constraints_) constraints_->push_back({Constraint::Kind::kBroadcastsTo, a, b, what});
}

Dim InferContext::broadcast(const Dim& a, const Dim& b) {
  if (a == b) return a;
  if (a.is_constant() && b.is_constant() && a.constant() != 1 && b.constant() != 1) {
    fail(ErrorCode::kInvalidModel, "dimensions {} and {} can't be broadcast", a.constant(), b.constant());
  }
  if (constraints_ && !a.is(1) && !b.is(1))
    constraints_->push_back({Constraint::Kind::kBroadcastable, a, b, "broadcast dimensions"});
  return graph::broadcast(a, b);
}

std::vector<Dim> InferContext::broadcast(const std::vector<Dim>& a, const std::vector<Dim>& b) {
  const std::vector<Dim>& longer = a.size() >= b.size() ? a : b;
  const std::vector<Dim>& shorter = a.size() >= b.size() ? b : a;
  std::vector<Dim> out = longer;
  const std::size_t offset = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) out[offset + i] = broadcast(longer[offset + i], shorter[i]);
  return out;
}

void InferContext::set_output(std::size_t i, ValueType type) {
  if (i < outputs_.size()) outputs_[i] = std::move(type);
}
void InferContext::set_tensor(std::size_t i, ElementType element, std::vector<Dim> dims) {
  set_output(i, ValueType::tensor(element, std::move(dims)));
}
void InferContext::set_unranked(std::size_t i, ElementType element) { set_output(i, ValueType::unranked(element)); }
void InferContext::set_like(std::size_t i, std::size_t from) { set_like(i, from, tensor(from).element); }
void InferContext::set_like(std::size_t i, std::size_t from, ElementType element) {
  ValueType type = tensor(from);
  type.element = element;
  type.values.reset();
  set_output(i, std::move(type));
}
void InferContext::set_values(std::size_t i, std::vector<Dim> values) {
  if (i < outputs_.size() && values.size() <= kMaxTrackedValues) outputs_[i].values = std::move(values);
}

}  // namespace sardonyx::ops
