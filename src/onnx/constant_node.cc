#include <utility>

#include "base/fail.h"
#include "onnx/graph_builder.h"

namespace sardonyx::onnx {
namespace {

Tensor strings_tensor(const Shape& shape, const std::vector<std::string>& values) {
  return Tensor::from<std::string>(shape, values);
}

Tensor to_tensor(const std::string& name, const graph::Attribute& attribute, TensorDecoder& tensors) {
  const auto length = [](const auto& list) { return Shape{static_cast<std::int64_t>(list.size())}; };
  if (name == "value") {
    if (const auto* value = std::get_if<Tensor>(&attribute)) return *value;
  } else if (name == "sparse_value") {
    if (const auto* value = std::get_if<graph::SparseTensor>(&attribute)) {
      return tensors.densify({value->values, value->indices, value->shape});
    }
  } else if (name == "value_int") {
    if (const auto* value = std::get_if<std::int64_t>(&attribute)) return Tensor::scalar(*value);
  } else if (name == "value_float") {
    if (const auto* value = std::get_if<float>(&attribute)) return Tensor::scalar(*value);
  } else if (name == "value_string") {
    if (const auto* value = std::get_if<std::string>(&attribute)) return strings_tensor({}, {*value});
  } else if (name == "value_ints") {
    if (const auto* value = std::get_if<std::vector<std::int64_t>>(&attribute)) {
      return Tensor::from<std::int64_t>(length(*value), *value);
    }
  } else if (name == "value_floats") {
    if (const auto* value = std::get_if<std::vector<float>>(&attribute))
      return Tensor::from<float>(length(*value), *value);
  } else if (name == "value_strings") {
    if (const auto* value = std::get_if<std::vector<std::string>>(&attribute))
      return strings_tensor(length(*value), *value);
  }
  fail(ErrorCode::kInvalidModel, "attribute '{}' of a Constant is unknown or of the wrong type", name);
}

}  // namespace

void GraphBuilder::build_constant(const NodeProto& proto, const graph::Attributes& attributes) {
  if (!proto.inputs.empty() || proto.outputs.size() != 1 || proto.outputs[0].empty() || attributes.size() != 1) {
    fail(ErrorCode::kInvalidModel, "a Constant must have no input, one output and one attribute, but has {}, {} and {}",
         proto.inputs.size(), proto.outputs.size(), attributes.size());
  }
  const auto& [name, attribute] = *attributes.begin();
  const std::string_view output = proto.outputs[0];
  scope_.define(output, state_.model.add_constant_value(scope_.graph(), scope_.full_name(output),
                                                        to_tensor(name, attribute, state_.tensors)));
}

}  // namespace sardonyx::onnx
