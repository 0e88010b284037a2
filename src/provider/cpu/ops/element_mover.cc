#include "provider/cpu/ops/element_mover.h"

#include <vector>

#include "base/fail.h"
#include "provider/cpu/dispatch.h"

namespace sardonyx::provider::cpu {
namespace {

std::size_t packed_elements(const TensorView* view) {
  return view && is_sub_byte(view->type) ? static_cast<std::size_t>(view->num_elements()) : 0;
}

}  // namespace

Binding ElementMover::bind(const BindContext& context) const {
  Binding binding;
  for (const TensorView* view : context.inputs) binding.workspace_bytes += packed_elements(view);
  for (const TensorView* view : context.outputs) binding.workspace_bytes += packed_elements(view);
  return binding;
}

void ElementMover::run(RunContext& context) const {
  const auto is_packed = [](const Slot* slot) { return slot && slot->is_tensor && is_sub_byte(slot->view.type); };
  bool any = false;
  for (const Slot* slot : context.inputs) any = any || is_packed(slot);
  for (const Slot* slot : context.outputs) any = any || is_packed(slot);
  if (!any) return move(context);

  // Outputs whose shape was not known when the kernel was bound are not in the workspace's size.
  std::size_t needed = 0;
  for (const Slot* slot : context.inputs) needed += is_packed(slot) ? packed_elements(&slot->view) : 0;
  for (const Slot* slot : context.outputs) needed += is_packed(slot) ? packed_elements(&slot->view) : 0;
  std::vector<std::uint8_t> own(needed > context.workspace_memory.size() ? needed : 0);
  auto* next = own.empty() ? reinterpret_cast<std::uint8_t*>(context.workspace()) : own.data();
  std::vector<Slot> slots(context.inputs.size() + context.outputs.size());
  std::vector<Slot*> inputs(context.inputs.begin(), context.inputs.end()),
      outputs(context.outputs.begin(), context.outputs.end());
  const auto widen = [&](Slot*& slot, Slot& wide) {
    if (!is_packed(slot)) return;
    wide.is_tensor = true;
    wide.view = {ElementType::kUInt8, {}, slot->view.shape, next};
    next += slot->view.num_elements();
    slot = &wide;
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    widen(inputs[i], slots[i]);
    if (inputs[i] == &slots[i]) unpack_elements(context.inputs[i]->view, slots[i].view.mutable_data<std::uint8_t>());
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) widen(outputs[i], slots[inputs.size() + i]);
  RunContext inner = context;
  inner.inputs = inputs;
  inner.outputs = outputs;
  inner.workspace_memory = {};
  move(inner);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] != context.outputs[i])
      pack_elements(outputs[i]->view.data<std::uint8_t>(), context.outputs[i]->view);
  }
}

void unpack_elements(const TensorView& packed, std::uint8_t* bytes) {
  const int bits = bit_width(packed.type);
  const auto* data = reinterpret_cast<const std::uint8_t*>(packed.bytes());
  const std::size_t per_byte = static_cast<std::size_t>(8 / bits), n = static_cast<std::size_t>(packed.num_elements());
  for (std::size_t i = 0; i < n; ++i) {
    bytes[i] = static_cast<std::uint8_t>(data[i / per_byte] >> (i % per_byte * static_cast<std::size_t>(bits)) &
                                         ((1 << bits) - 1));
  }
}

void pack_elements(const std::uint8_t* bytes, const TensorView& packed) {
  const int bits = bit_width(packed.type);
  auto* data = reinterpret_cast<std::uint8_t*>(packed.mutable_bytes());
  const std::size_t per_byte = static_cast<std::size_t>(8 / bits), n = static_cast<std::size_t>(packed.num_elements());
  for (std::size_t i = 0; i < n; ++i) {
    if (i % per_byte == 0) data[i / per_byte] = 0;
    const unsigned shifted = static_cast<unsigned>(bytes[i]) << (i % per_byte * static_cast<std::size_t>(bits));
    data[i / per_byte] = static_cast<std::uint8_t>(data[i / per_byte] | shifted);
  }
}

Shape read_ints(const TensorView& tensor) {
  const auto n = static_cast<std::size_t>(tensor.num_elements());
  Shape out;
  out.resize(n);
  dispatch(Types<std::int64_t, std::int32_t>{}, tensor.type, "a list of integers", [&]<typename T>() {
    for (std::size_t i = 0; i < n; ++i) out[i] = tensor.data<T>()[i];
  });
  return out;
}

std::int64_t read_int(const TensorView& tensor) {
  if (tensor.num_elements() != 1) {
    fail(ErrorCode::kInvalidArgument, "expected one integer, found a tensor of shape {}", tensor.shape.to_string());
  }
  return read_ints(tensor)[0];
}

std::size_t normalized_axis(std::int64_t value, std::size_t rank) {
  const auto n = static_cast<std::int64_t>(rank);
  if (value < -n || value >= n)
    fail(ErrorCode::kInvalidArgument, "axis {} is outside a tensor of rank {}", value, rank);
  return static_cast<std::size_t>(value < 0 ? value + n : value);
}

}  // namespace sardonyx::provider::cpu
