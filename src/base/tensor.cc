#include "sardonyx/tensor.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "base/fail.h"

namespace sardonyx {
namespace {

constexpr std::size_t kAlignment = 64;

std::shared_ptr<void> allocate_bytes(std::size_t bytes) {
  void* memory = ::operator new(std::max<std::size_t>(bytes, 1), std::align_val_t(kAlignment), std::nothrow);
  if (!memory) fail(ErrorCode::kResourceExhausted, "out of memory: {} bytes for a tensor", bytes);
  return {memory, [](void* p) { ::operator delete(p, std::align_val_t(kAlignment)); }};
}

}  // namespace

Tensor::Tensor(ElementType type, Shape shape) {
  view_.type = type;
  view_.shape = std::move(shape);
  const std::int64_t count = view_.shape.num_elements();
  const std::size_t bytes = byte_size(type, count);
  if (type == ElementType::kString) {
    std::shared_ptr<std::string[]> strings(new std::string[static_cast<std::size_t>(count)]);
    view_.data_ptr = strings.get();
    owner_ = std::move(strings);
  } else {
    std::shared_ptr<void> memory = allocate_bytes(bytes);
    view_.data_ptr = memory.get();
    owner_ = std::move(memory);
  }
}

Tensor::Tensor(ElementType type, Shape shape, void* data, std::shared_ptr<const void> owner, Device device)
    : view_{type, device, std::move(shape), data}, owner_(std::move(owner)) {}

Tensor Tensor::reshaped(Shape shape) const {
  if (shape.num_elements() != num_elements()) {
    fail(ErrorCode::kInvalidArgument, "a tensor of shape {} can't take shape {}", this->shape().to_string(), shape.to_string());
  }
  return Tensor(type(), std::move(shape), view_.data_ptr, owner_, device());
}

Tensor Tensor::clone() const {
  Tensor copy(type(), shape());
  if (type() == ElementType::kString) {
    std::copy_n(data<std::string>(), num_elements(), copy.mutable_data<std::string>());
  } else if (num_bytes() > 0) {
    std::memcpy(copy.view_.data_ptr, view_.data_ptr, num_bytes());
  }
  return copy;
}

bool identical(const TensorView& a, const TensorView& b) {
  if (a.type != b.type || !(a.shape == b.shape)) return false;
  const std::size_t bytes = a.num_bytes();
  if (a.type == ElementType::kString) {
    return std::equal(a.data<std::string>(), a.data<std::string>() + a.num_elements(), b.data<std::string>());
  }
  return bytes == 0 || std::memcmp(a.data_ptr, b.data_ptr, bytes) == 0;
}

}  // namespace sardonyx
