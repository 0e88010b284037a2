#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sardonyx/tensor.h"

namespace sardonyx::onnx {

/// A serialized TensorProto: strings in string_data, all else in raw_data. Host tensors under 2 GiB only.
std::string encode_tensor(const Tensor& tensor, std::string_view name);

/// A TensorProto without its elements: type, dims and name.
std::string encode_tensor_header(const Tensor& tensor, std::string_view name);

/// The same with the elements in a file beside the model.
std::string encode_external_tensor(const Tensor& tensor, std::string_view name, std::string_view location,
                                   std::uint64_t offset);

}  // namespace sardonyx::onnx
