#include "text/pipeline/token_inputs.h"

#include <algorithm>

#include "base/fail.h"

namespace sardonyx::pipeline {

TokenInputs::TokenInputs(const std::vector<PortInfo>& inputs, std::int64_t pad_token_id) : pad_token_id_(pad_token_id) {
  bool has_mask = false, has_ids = false;
  for (const PortInfo& port : inputs) {
    const bool is_mask = port.name == "attention_mask", is_ids = port.name == "input_ids";
    const bool known = is_mask || is_ids || port.name == "token_type_ids" || port.name == "position_ids";
    const bool integers = port.element_type == ElementType::kInt64 || port.element_type == ElementType::kInt32;
    if (!known && port.has_default) continue;
    if (!known || !integers || (port.has_rank && port.fixed.size() != 2)) {
      fail(ErrorCode::kUnsupported,
           "expected a text model with the inputs input_ids, attention_mask, token_type_ids and position_ids (int64 or "
           "int32, "
           "[batch, sequence]), but it takes '{}': {}",
           port.name, port.type);
    }
    has_mask = has_mask || is_mask;
    has_ids = has_ids || is_ids;
    const Role role = is_ids                          ? Role::kIds
                      : is_mask                       ? Role::kMask
                      : port.name == "token_type_ids" ? Role::kTypeIds
                                                      : Role::kPositions;
    inputs_.push_back({port.name, role, port.element_type});
    if (!port.has_rank) continue;
    if (port.fixed[0] > 0) fixed_batch_ = static_cast<std::size_t>(port.fixed[0]);
    if (port.fixed[1] > 0) fixed_length_ = static_cast<std::size_t>(port.fixed[1]);
  }
  if (!has_ids) fail(ErrorCode::kUnsupported, "expected a text model with an input 'input_ids', but it has none");
  if (fixed_length_ != 0 && !has_mask) {
    fail(ErrorCode::kUnsupported,
         "the model takes exactly {} tokens and no attention_mask, so shorter texts can't be told apart",
         fixed_length_);
  }
}

std::int64_t TokenInputs::element(Role role, const text::Encoding* encoding, std::size_t at, std::int64_t pad) {
  const bool filled = encoding != nullptr && at < encoding->size();
  switch (role) {
    case Role::kIds: return filled ? encoding->ids[at] : pad;
    case Role::kMask: return filled ? 1 : 0;
    case Role::kTypeIds: return filled ? encoding->type_ids[at] : 0;
    case Role::kPositions: return static_cast<std::int64_t>(at);
  }
  return 0;
}

NamedValues TokenInputs::make(std::span<const text::Encoding* const> encodings) const {
  const std::size_t batch = std::max(encodings.size(), fixed_batch_);
  const std::size_t length = std::max(encodings.front()->size(), fixed_length_);
  const Shape shape{static_cast<std::int64_t>(batch), static_cast<std::int64_t>(length)};
  NamedValues values;
  for (const Input& input : inputs_) {
    Tensor tensor(input.type, shape);
    for (std::size_t i = 0; i < batch * length; ++i) {
      // Rows that only fill a fixed batch repeat the first text, so that no row is without tokens.
      const std::size_t row = i / length;
      const std::int64_t value =
          element(input.role, encodings[row < encodings.size() ? row : 0], i % length, pad_token_id_);
      if (input.type == ElementType::kInt64)
        tensor.mutable_data<std::int64_t>()[i] = value;
      else
        tensor.mutable_data<std::int32_t>()[i] = static_cast<std::int32_t>(value);
    }
    values.emplace_back(input.name, std::move(tensor));
  }
  return values;
}

}  // namespace sardonyx::pipeline
