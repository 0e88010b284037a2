#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "graph/model.h"

namespace sardonyx::onnx {

struct WriteOptions {
  /// Weights go to a file beside the model, `<name>.data`, once the model would be longer than this. Protobuf ends at 2
  /// GiB.
  std::size_t most_bytes_inline = std::size_t{2'000'000'000};
  /// The version of ai.onnx that the file says it needs; 0: the internal opset. The caller vouches that the model's
  /// operators mean the same in another one.
  std::int64_t opset = 0;
};

/// Writes a model as portable ONNX: subgraphs read outer values by name again, constants become initializers. Value
/// names are kept where they are unique among all names that a subgraph sees. What is written replaces an existing file
/// in one step. Throws Error: kIo, or kInvalidArgument for what ONNX cannot say (an output name that stands for two
/// values).
void write_model(const graph::Model& model, const std::filesystem::path& path, const WriteOptions& options = {});

/// The same as one string, weights included; throws kResourceExhausted beyond `most_bytes_inline`.
std::string write_model_to_string(const graph::Model& model, const WriteOptions& options = {});

}  // namespace sardonyx::onnx
