#include "provider/evaluate.h"

#include <optional>
#include <string>
#include <utility>

#include "base/aligned_tensor.h"
#include "base/fail.h"
#include "ops/infer_context.h"
#include "ops/op_list.h"

namespace sardonyx::provider {
namespace {

using graph::ValueType;

/// The packed constants a kernel asks for, made for this call alone.
std::vector<Tensor> pack(const Kernel& kernel, std::span<const Tensor* const> constants) {
  std::vector<Tensor> packed;
  for (const PackRequest& request : kernel.pack_requests()) {
    Tensor memory(ElementType::kUInt8, {static_cast<std::int64_t>(request.bytes)});
    request.pack(constants[request.input]->view(), memory.mutable_data<std::byte>());
    packed.push_back(std::move(memory));
  }
  return packed;
}

}  // namespace

void TensorAllocator::allocate(Slot& slot, ElementType type, const Shape& shape) {
  Tensor tensor(type, shape);
  slot.view = tensor.view();
  slot.object = std::move(tensor);
  slot.is_tensor = true;
}

ValueType type_of(const Value& value) {
  if (value.is_tensor()) return ValueType::of(value.tensor().type(), value.tensor().shape());
  if (value.is_sequence()) {
    const Sequence& sequence = value.sequence();
    ValueType inner = ValueType::unranked(sequence.element_type);
    if (!sequence.items.empty() && !sequence.items[0].is_tensor()) inner = type_of(sequence.items[0]);
    return ValueType::sequence(std::move(inner));
  }
  if (value.is_map()) {
    const Map& map = value.map();
    return ValueType::map(map.keys.type(), map.values.empty() ? ValueType{} : type_of(map.values[0]));
  }
  return {};
}

std::vector<Value> evaluate_node(const Provider& provider, std::string_view domain, std::string_view op_type,
                                 const graph::Attributes& attributes, std::span<const Value> given, std::size_t num_outputs) {
  std::vector<Value> inputs(given.begin(), given.end());
  for (Value& input : inputs) {
    if (input.is_tensor()) input = aligned(input.tensor());
  }
  const ops::OpDef* op = ops::find_op(domain, op_type);
  if (!op) fail(ErrorCode::kUnsupported, "operator {}{}{} is not known", domain, domain.empty() ? "" : ".", op_type);

  std::vector<ValueType> input_types;
  std::vector<const Tensor*> constants;
  for (const Value& input : inputs) {
    input_types.push_back(type_of(input));
    constants.push_back(input.is_tensor() ? &input.tensor() : nullptr);
  }
  graph::NodeDesc node{domain, op_type, "", &attributes, input_types, {}, constants};
  graph::SymbolTable symbols;
  ops::InferContext inference(node, num_outputs, symbols);
  op->infer(inference);
  const std::vector<ValueType>& output_types = inference.outputs();
  node.outputs = output_types;
  const graph::Support support = provider.supports(node);
  if (!support.yes) fail(ErrorCode::kUnsupported, "{}", support.reason);
  const std::unique_ptr<Kernel> kernel = provider.create_kernel(node);

  TensorAllocator allocator;
  std::vector<Slot> slots(inputs.size() + num_outputs);
  std::vector<Slot*> input_slots, output_slots;
  std::vector<const TensorView*> input_views, output_views;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Slot& slot = slots[i];
    slot.is_tensor = inputs[i].is_tensor();
    if (slot.is_tensor) slot.view = inputs[i].tensor().view();
    slot.object = inputs[i];
    input_slots.push_back(inputs[i].is_none() ? nullptr : &slot);
    input_views.push_back(slot.is_tensor ? &slot.view : nullptr);
  }
  for (std::size_t i = 0; i < num_outputs; ++i) {
    Slot& slot = slots[inputs.size() + i];
    if (const std::optional<Shape> shape = output_types[i].static_shape()) allocator.allocate(slot, output_types[i].element, *shape);
    output_slots.push_back(&slot);
    output_views.push_back(slot.is_tensor ? &slot.view : nullptr);
  }
  const std::vector<Tensor> packed = pack(*kernel, constants);
  std::vector<const std::byte*> packed_pointers;
  for (const Tensor& tensor : packed) packed_pointers.push_back(tensor.data<std::byte>());
  const Binding binding = kernel->bind({input_views, output_views});
  const Tensor workspace(ElementType::kUInt8, {static_cast<std::int64_t>(binding.workspace_bytes)});

  RunContext context;
  context.inputs = input_slots;
  context.outputs = output_slots;
  context.packed_constants = packed_pointers;
  context.workspace_memory = {static_cast<std::byte*>(workspace.view().data_ptr), binding.workspace_bytes};
  context.bound_params = binding.params.get();
  context.late = &allocator;
  context.output_types = output_types;
  kernel->run(context);

  std::vector<Value> outputs;
  for (std::size_t i = 0; i < num_outputs; ++i) outputs.push_back(std::move(slots[inputs.size() + i].object));
  return outputs;
}

}  // namespace sardonyx::provider
