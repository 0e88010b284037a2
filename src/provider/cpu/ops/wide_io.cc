#include "provider/cpu/ops/wide_io.h"

#include <cassert>

#include "provider/cpu/kernel_list.h"

namespace sardonyx::provider::cpu {
namespace {

bool is_16_bit_float(ElementType type) { return type == ElementType::kFloat16 || type == ElementType::kBFloat16; }

std::size_t copy_bytes(const TensorView* tensor) {
  if (!tensor || !is_16_bit_float(tensor->type)) return 0;
  return align_workspace(static_cast<std::size_t>(tensor->num_elements()) * sizeof(float));
}

template <typename Narrow>
void widen(const TensorView& from, float* to, const Parallel& parallel) {
  const Narrow* in = from.data<Narrow>();
  parallel.parallel_for(static_cast<std::size_t>(from.num_elements()), kElementChunk,
                        [&](std::size_t begin, std::size_t end) {
                          for (std::size_t i = begin; i < end; ++i) to[i] = static_cast<float>(in[i]);
                        });
}

template <typename Narrow>
void narrow(const float* from, const TensorView& to, const Parallel& parallel) {
  Narrow* out = to.mutable_data<Narrow>();
  parallel.parallel_for(static_cast<std::size_t>(to.num_elements()), kElementChunk,
                        [&](std::size_t begin, std::size_t end) {
                          for (std::size_t i = begin; i < end; ++i) out[i] = Narrow(from[i]);
                        });
}

void require_type(const TensorView& tensor, ElementType wanted) {
  if (tensor.type != wanted) {
    fail(ErrorCode::kInvalidModel, "expected tensors of {}, found one of {}", name(wanted), name(tensor.type));
  }
}

}  // namespace

std::size_t WideIo::workspace_bytes(const BindContext& context) {
  std::size_t bytes = 0;
  for (const TensorView* tensor : context.inputs) bytes += copy_bytes(tensor);
  for (const TensorView* tensor : context.outputs) bytes += copy_bytes(tensor);
  return bytes;
}

float* WideIo::take(const TensorView& tensor) {
  auto* memory = reinterpret_cast<float*>(next_);
  next_ += copy_bytes(&tensor);
  return memory;
}

const void* WideIo::read(const TensorView& tensor, ElementType wanted) {
  if (!is_16_bit_float(tensor.type)) {
    require_type(tensor, wanted);
    return tensor.data_ptr;
  }
  require_type(tensor, wanted == ElementType::kFloat32 ? tensor.type : wanted);
  float* copy = take(tensor);
  if (tensor.type == ElementType::kFloat16) {
    widen<Half>(tensor, copy, context_.parallel);
  } else {
    widen<BFloat16>(tensor, copy, context_.parallel);
  }
  return copy;
}

void* WideIo::write(const TensorView& tensor, ElementType wanted) {
  if (!is_16_bit_float(tensor.type)) {
    require_type(tensor, wanted);
    return tensor.data_ptr;
  }
  require_type(tensor, wanted == ElementType::kFloat32 ? tensor.type : wanted);
  assert(num_pending_ < kMaxOutputs);
  float* copy = take(tensor);
  pending_[num_pending_++] = {&tensor, copy};
  return copy;
}

void WideIo::store() {
  for (std::size_t i = 0; i < num_pending_; ++i) {
    const auto& [tensor, values] = pending_[i];
    if (tensor->type == ElementType::kFloat16) {
      narrow<Half>(values, *tensor, context_.parallel);
    } else {
      narrow<BFloat16>(values, *tensor, context_.parallel);
    }
  }
  num_pending_ = 0;
}

Support supports_float(const NodeDesc& node) {
  return is_one_of(FloatTypes{}, node.input_type(0)) ? Support::accept() : decline_type(node, 0);
}

}  // namespace sardonyx::provider::cpu
