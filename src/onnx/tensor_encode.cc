#include "onnx/tensor_encode.h"

#include <protozero/pbf_writer.hpp>

namespace sardonyx::onnx {
namespace {

void write_header(protozero::pbf_writer& writer, const Tensor& tensor, std::string_view name) {
  writer.add_packed_int64(1, tensor.shape().begin(), tensor.shape().end());
  writer.add_int32(2, static_cast<std::int32_t>(tensor.type()));
  if (!name.empty()) writer.add_string(8, name.data(), name.size());
}

void add_entry(protozero::pbf_writer& writer, std::string_view key, std::string_view value) {
  protozero::pbf_writer entry(writer, 13);
  entry.add_string(1, key.data(), key.size());
  entry.add_string(2, value.data(), value.size());
}

}  // namespace

std::string encode_tensor(const Tensor& tensor, std::string_view name) {
  std::string data;
  protozero::pbf_writer writer(data);
  if (tensor.type() != ElementType::kString) writer.reserve(tensor.num_bytes() + name.size() + 64);
  write_header(writer, tensor, name);
  if (tensor.type() == ElementType::kString) {
    for (const std::string& text : tensor.span<std::string>()) writer.add_bytes(6, text);
  } else {
    writer.add_bytes(9, reinterpret_cast<const char*>(tensor.view().bytes()), tensor.num_bytes());
  }
  return data;
}

std::string encode_tensor_header(const Tensor& tensor, std::string_view name) {
  std::string data;
  protozero::pbf_writer writer(data);
  write_header(writer, tensor, name);
  return data;
}

std::string encode_external_tensor(const Tensor& tensor, std::string_view name, std::string_view location,
                                   std::uint64_t offset) {
  std::string data;
  protozero::pbf_writer writer(data);
  write_header(writer, tensor, name);
  add_entry(writer, "location", location);
  add_entry(writer, "offset", std::to_string(offset));
  add_entry(writer, "length", std::to_string(tensor.num_bytes()));
  writer.add_int32(14, 1);
  return data;
}

}  // namespace sardonyx::onnx
