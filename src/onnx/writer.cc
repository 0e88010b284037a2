#include "onnx/writer.h"

#include <fmt/core.h>
#include <fstream>
#include <protozero/pbf_writer.hpp>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "onnx/graph_encode.h"
#include "onnx/tensor_encode.h"
#include "onnx/upgrade/opsets.h"

namespace sardonyx::onnx {
namespace fs = std::filesystem;
namespace {

constexpr std::int64_t kIrVersion = 13;
constexpr std::size_t kExternalAlignment = 4096;  ///< so that a tensor's pages are its own
constexpr std::size_t kLeastExternalBytes = 4096;

/// What a file consists of, in order: text of our own and tensors' memory.
struct Piece {
  std::string text;
  const Tensor* tensor = nullptr;  ///< written after the text
  std::size_t padding = 0;         ///< zeros after that
  std::size_t size() const { return text.size() + (tensor ? tensor->num_bytes() : 0) + padding; }
};

struct Layout {
  std::vector<Piece> model, data;
};

std::size_t total_size(const std::vector<Piece>& pieces) {
  std::size_t total = 0;
  for (const Piece& piece : pieces) total += piece.size();
  return total;
}

/// The key and length of a length-delimited field.
std::string field_header(protozero::pbf_tag_type field, std::size_t length) {
  std::string text;
  protozero::add_varint_to_buffer(&text, static_cast<std::uint64_t>(field) << 3 | 2);
  protozero::add_varint_to_buffer(&text, length);
  return text;
}

/// An initializer of GraphProto with its elements inside.
Piece inline_initializer(const NamedConstant& constant) {
  const Tensor& tensor = *constant.tensor;
  if (tensor.type() == ElementType::kString) {
    const std::string message = encode_tensor(tensor, constant.name);
    return {field_header(5, message.size()) + message};
  }
  std::string header = encode_tensor_header(tensor, constant.name) + field_header(9, tensor.num_bytes());
  return {field_header(5, header.size() + tensor.num_bytes()) + header, &tensor};
}

bool may_be_external(const Tensor& tensor) {
  return tensor.type() != ElementType::kString && tensor.num_bytes() >= kLeastExternalBytes;
}

/// Adds the constants' pieces to the graph; with a location, the large ones' elements go to the data file.
void lay_out_constants(const std::vector<NamedConstant>& constants, const std::string& location, Layout& layout) {
  std::uint64_t offset = 0;
  for (const NamedConstant& constant : constants) {
    if (location.empty() || !may_be_external(*constant.tensor)) {
      layout.model.push_back(inline_initializer(constant));
      continue;
    }
    const std::string message = encode_external_tensor(*constant.tensor, constant.name, location, offset);
    layout.model.push_back({field_header(5, message.size()) + message});
    const std::size_t bytes = constant.tensor->num_bytes();
    const std::size_t padding = (kExternalAlignment - bytes % kExternalAlignment) % kExternalAlignment;
    layout.data.push_back({"", constant.tensor, padding});
    offset += bytes + padding;
  }
}

std::string encode_header(const graph::Model& model, const std::set<std::string>& domains,
                          const WriteOptions& options) {
  std::string data;
  protozero::pbf_writer writer(data);
  writer.add_int64(1, kIrVersion);
  writer.add_string(2, model.producer_name);
  writer.add_string(3, model.producer_version);
  if (!model.domain.empty()) writer.add_string(4, model.domain);
  writer.add_int64(5, model.model_version);
  if (!model.doc_string.empty()) writer.add_string(6, model.doc_string);
  std::set<std::string> imported = domains;
  imported.insert("");
  for (const std::string& domain : imported) {
    std::int64_t version = newest_opset(domain);
    if (domain.empty() && options.opset != 0) version = options.opset;
    if (version == 0) version = model.opsets.contains(domain) ? model.opsets.at(domain) : 1;
    protozero::pbf_writer opset(writer, 8);
    opset.add_string(1, domain);
    opset.add_int64(2, version);
  }
  for (const auto& [key, value] : model.metadata) {
    protozero::pbf_writer entry(writer, 14);
    entry.add_string(1, key);
    entry.add_string(2, value);
  }
  return data;
}

/// `location` names the data file; empty: everything inside.
Layout lay_out(const graph::Model& model, const WriteOptions& options, const std::string& location) {
  EncodedGraph graph = encode_graph(model);
  Layout layout;
  lay_out_constants(graph.constants, location, layout);
  const std::size_t graph_size = graph.message.size() + total_size(layout.model);
  std::string head = encode_header(model, graph.domains, options) + field_header(7, graph_size) + graph.message;
  layout.model.insert(layout.model.begin(), Piece{std::move(head)});
  return layout;
}

/// A file that appears under its name when it is whole, or not at all.
class NewFile {
 public:
  explicit NewFile(fs::path path)
      : path_(std::move(path)), temporary_(path_.string() + fmt::format(".{}.tmp", getpid())) {
    stream_.open(temporary_, std::ios::binary | std::ios::trunc);
    check();
  }
  ~NewFile() {
    std::error_code ignored;
    if (!is_done_) fs::remove(temporary_, ignored);
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(const std::vector<Piece>& pieces) {
    for (const Piece& piece : pieces) {
      stream_ << piece.text;
      if (piece.tensor) {
        stream_.write(reinterpret_cast<const char*>(piece.tensor->view().bytes()),
                      static_cast<std::streamsize>(piece.tensor->num_bytes()));
      }
      stream_ << std::string(piece.padding, '\0');
    }
    stream_.close();
    check();
  }

  void publish() {
    std::error_code error;
    fs::rename(temporary_, path_, error);
    if (error) fail(ErrorCode::kIo, "can't write '{}': {}", path_.string(), error.message());
    is_done_ = true;
  }

 private:
  void check() const {
    if (!stream_)
      fail(ErrorCode::kIo, "can't write '{}': does its folder exist, and is there space on the disk?",
           temporary_.string());
  }

  fs::path path_, temporary_;
  std::ofstream stream_;
  bool is_done_ = false;
};

}  // namespace

void write_model(const graph::Model& model, const fs::path& path, const WriteOptions& options) {
  Layout layout = lay_out(model, options, "");
  const bool is_split = total_size(layout.model) > options.most_bytes_inline;
  const fs::path data_path = path.string() + ".data";
  if (is_split) layout = lay_out(model, options, data_path.filename().string());
  if (total_size(layout.model) > std::size_t{0x7fffffff}) {
    fail(ErrorCode::kUnsupported, "the model is longer than 2 GiB even with its weights in a file of their own");
  }
  NewFile file(path);
  file.write(layout.model);
  if (is_split) {
    NewFile data(data_path);
    data.write(layout.data);
    data.publish();
  }
  file.publish();
}

std::string write_model_to_string(const graph::Model& model, const WriteOptions& options) {
  const Layout layout = lay_out(model, options, "");
  const std::size_t size = total_size(layout.model);
  if (size > options.most_bytes_inline) {
    fail(ErrorCode::kResourceExhausted, "the model takes {} bytes; write it to a file, with its weights beside it",
         size);
  }
  std::string data;
  data.reserve(size);
  for (const Piece& piece : layout.model) {
    data += piece.text;
    if (piece.tensor)
      data.append(reinterpret_cast<const char*>(piece.tensor->view().bytes()), piece.tensor->num_bytes());
  }
  return data;
}

}  // namespace sardonyx::onnx
