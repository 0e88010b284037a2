#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

#include "graph/model.h"

namespace sardonyx::onnx {

struct ReadOptions {
  /// Models in memory: keeps the bytes alive, so that weights need not be copied. Null: the bytes may go away after the
  /// call.
  std::shared_ptr<const void> owner;
  /// Models in memory: where their external data lies. Empty: such data is an error.
  std::filesystem::path external_data_folder;
  /// The memory that copied and dense tensors, and what functions repeat, may take beyond 16 times the files' sizes.
  std::size_t most_extra_bytes = std::size_t{256} << 20;
  /// The nodes that expanding functions may make.
  std::size_t most_inlined_nodes = 200'000;
};

/// Loads a model from a file, which is mapped and stays mapped as long as a weight of the Model lives.
///
/// The result is in the internal opset, with functions inlined and every graph closed and in topological order. Throws
/// Error: kNotFound and kIo for the file, kInvalidModel for whatever breaks the format or ONNX's rules, kUnsupported
/// for opsets and features newer than this build, kResourceExhausted for what exceeds the options' limits. Safe from
/// any thread.
graph::Model read_model(const std::filesystem::path& path, const ReadOptions& options = {});

/// The same for a model that lies in memory.
graph::Model read_model(std::span<const std::byte> bytes, const ReadOptions& options = {});

}  // namespace sardonyx::onnx
