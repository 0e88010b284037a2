#include "provider/kernel.h"

#include <cassert>
#include <utility>

#include "base/fail.h"

namespace sardonyx::provider {

Value RunContext::input_value(std::size_t i) const {
  const Slot& slot = *inputs[i];
  if (!slot.is_tensor) return slot.object;
  if (slot.object.is_tensor()) return slot.object;
  return Tensor(slot.view.type, slot.view.shape, slot.view.data_ptr, nullptr, slot.view.device).clone();
}

TensorView& RunContext::allocate_output(std::size_t i, const Shape& shape) const {
  return allocate_output(i, output_types[i].element, shape);
}

TensorView& RunContext::allocate_output(std::size_t i, ElementType type, const Shape& shape) const {
  assert(wants_output(i));
  late->allocate(*outputs[i], type, shape);
  return outputs[i]->view;
}

void RunContext::set_output(std::size_t i, Value value) const {
  if (!wants_output(i)) return;
  Slot& slot = *outputs[i];
  slot.is_tensor = value.is_tensor();
  if (slot.is_tensor) slot.view = value.tensor().view();
  slot.object = std::move(value);
}

void RunContext::check_cancelled() const {
  if (cancelled && cancelled->load(std::memory_order_relaxed)) fail(ErrorCode::kCancelled, "the run was cancelled");
}

}  // namespace sardonyx::provider
