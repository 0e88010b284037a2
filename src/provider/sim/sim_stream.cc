#include "provider/sim/sim_stream.h"

#include <cstring>
#include <utility>

#include "base/fail.h"
#include "provider/sim/device_memory.h"

namespace sardonyx::provider::sim {
namespace {

TensorView on_device(TensorView view) {
  view.data_ptr = DeviceMemory::global().device_address(view.data_ptr);
  return view;
}

}  // namespace

/// A kernel call as it was enqueued. The kernel sees device addresses; what it allocates late goes to the caller's slots too.
struct SimStream::Call final : LateAllocator {
  Call(const Kernel& called, const RunContext& original) : kernel(called), context(original) {
    slots.reserve(context.inputs.size() + context.outputs.size());
    for (Slot* slot : context.inputs) inputs.push_back(slot ? add(*slot) : nullptr);
    for (Slot* slot : context.outputs) {
      outputs.push_back(slot ? add(*slot) : nullptr);
      callers_outputs.push_back(slot);
    }
    callers_late = context.late;
    context.inputs = inputs;
    context.outputs = outputs;
    context.late = this;
    auto* workspace = static_cast<std::byte*>(DeviceMemory::global().device_address(context.workspace_memory.data()));
    context.workspace_memory = {workspace, context.workspace_memory.size()};
  }

  Slot* add(const Slot& slot) {
    slots.push_back(slot);
    slots.back().view = on_device(slot.view);
    return &slots.back();
  }

  void allocate(Slot& slot, ElementType type, const Shape& shape) override {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i] != &slot) continue;
      callers_late->allocate(*callers_outputs[i], type, shape);
      slot.view = on_device(callers_outputs[i]->view);
      slot.is_tensor = true;
      return;
    }
    fail(ErrorCode::kInternal, "a kernel allocates an output that is not its own");
  }

  const Kernel& kernel;
  RunContext context;
  std::vector<Slot> slots;
  std::vector<Slot*> inputs, outputs, callers_outputs;
  LateAllocator* callers_late = nullptr;
};

SimStream::SimStream() = default;
SimStream::~SimStream() = default;

void SimStream::launch(const Kernel& kernel, const RunContext& context) {
  queue_.push_back({std::make_unique<Call>(kernel, context), {}, {}});
}

void SimStream::copy(const TensorView& from, const TensorView& to) {
  if (from.type == ElementType::kString) fail(ErrorCode::kUnsupported, "strings can't be copied to the sim provider");
  if (to.device.is_host() && to.num_bytes() > 0) std::memset(to.data_ptr, DeviceMemory::kPoison, to.num_bytes());
  queue_.push_back({nullptr, from, to});
}

void SimStream::synchronize() {
  while (!queue_.empty()) {
    const Work work = std::move(queue_.front());
    queue_.pop_front();
    try {
      if (work.call) {
        work.call->kernel.run(work.call->context);
      } else if (work.from.num_bytes() > 0) {
        std::memmove(on_device(work.to).data_ptr, on_device(work.from).data_ptr, work.from.num_bytes());
      }
    } catch (...) {
      queue_.clear();  // as on a real device, work behind a fault is lost
      throw;
    }
  }
}

}  // namespace sardonyx::provider::sim
