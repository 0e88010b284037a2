#include "runtime/stacking.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/fail.h"

namespace sardonyx::runtime {
namespace {

/// Copies `count` elements. Sub-byte types are refused by the callers.
void copy_elements(const TensorView& from, std::int64_t from_at, const TensorView& to, std::int64_t to_at, std::int64_t count) {
  if (from.type == ElementType::kString) {
    std::copy_n(from.data<std::string>() + from_at, count, to.mutable_data<std::string>() + to_at);
    return;
  }
  const auto width = static_cast<std::int64_t>(bit_width(from.type) / 8);
  if (count > 0) std::memcpy(to.mutable_bytes() + to_at * width, from.bytes() + from_at * width, static_cast<std::size_t>(count * width));
}

void require_whole_bytes(ElementType type) {
  if (is_sub_byte(type)) fail(ErrorCode::kUnsupported, "{} tensors can't be scanned", name(type));
}

}  // namespace

void Stacker::add(const Value& value) {
  const Tensor& part = value.tensor();
  require_whole_bytes(part.type());
  if (!parts_.empty() && (parts_[0].type() != part.type() || !(parts_[0].shape() == part.shape()))) {
    fail(ErrorCode::kInvalidArgument, "a body's scanned output has shape {} in one iteration and {} in another",
         parts_[0].shape().to_string(), part.shape().to_string());
  }
  parts_.push_back(part);
}

void Stacker::reverse() { std::reverse(parts_.begin(), parts_.end()); }

Tensor Stacker::finish(const graph::ValueType& declared, std::int64_t axis) const {
  if (parts_.empty()) {
    Shape shape;
    for (const graph::Dim& dim : declared.dims) shape.push_back(dim.is_constant() ? dim.constant() : 0);
    if (shape.rank() == 0) shape.push_back(0);
    return Tensor(declared.element, shape);
  }
  const Tensor& first = parts_[0];
  const auto rank = static_cast<std::int64_t>(first.shape().rank()) + 1;
  if (axis < -rank || axis >= rank) fail(ErrorCode::kInvalidArgument, "scan axis {} is outside rank {}", axis, rank);
  const auto at = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
  const auto count = static_cast<std::int64_t>(parts_.size());
  Shape shape;
  for (std::size_t i = 0; i < first.shape().rank() + 1; ++i) {
    shape.push_back(i < at ? first.shape()[i] : i == at ? count : first.shape()[i - 1]);
  }
  Tensor out(first.type(), shape);
  const std::int64_t outer = first.shape().product(0, at), inner = first.shape().product(at, first.shape().rank());
  for (std::int64_t p = 0; p < count; ++p) {
    for (std::int64_t o = 0; o < outer; ++o) {
      copy_elements(parts_[static_cast<std::size_t>(p)].view(), o * inner, out.view(), (o * count + p) * inner, inner);
    }
  }
  return out;
}

Tensor slice_along(const TensorView& tensor, std::size_t axis, std::int64_t index) {
  require_whole_bytes(tensor.type);
  Shape shape;
  for (std::size_t i = 0; i < tensor.shape.rank(); ++i) {
    if (i != axis) shape.push_back(tensor.shape[i]);
  }
  Tensor out(tensor.type, shape);
  const std::int64_t outer = tensor.shape.product(0, axis), inner = tensor.shape.product(axis + 1, tensor.shape.rank());
  const std::int64_t length = tensor.shape[axis];
  for (std::int64_t o = 0; o < outer; ++o) copy_elements(tensor, (o * length + index) * inner, out.view(), o * inner, inner);
  return out;
}

}  // namespace sardonyx::runtime
