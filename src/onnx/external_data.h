#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "onnx/proto.h"

namespace sardonyx {
class FileMapping;
}

namespace sardonyx::onnx {

/// Bytes of a mapped file and what keeps them mapped.
struct MappedBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

/// Files beside a model that hold its tensors. Each file is mapped once, whatever the number of tensors in it.
///
/// A location must be relative, name a regular file, and stay inside the model's folder after symbolic links are
/// followed; a model that is itself a symbolic link may also have its data in the folder of the file that the link
/// leads to.
class ExternalFiles {
 public:
  /// Without external data: the model did not come from a file.
  ExternalFiles() = default;
  explicit ExternalFiles(const std::filesystem::path& model_path);
  /// Data of a model in memory lies in this folder.
  static ExternalFiles in_folder(const std::filesystem::path& folder);

  /// The bytes that a tensor's external_data entries name; `expected_bytes` is what its type and shape take. Throws
  /// kInvalidModel for entries that are malformed, leave the folder or the file, or give another length.
  MappedBytes find(const std::vector<EntryProto>& entries, std::size_t expected_bytes);
  /// The size of all files so far.
  std::size_t mapped_bytes() const { return mapped_bytes_; }

 private:
  std::filesystem::path resolve(const std::string& location) const;
  std::shared_ptr<const FileMapping> open(const std::string& location);

  std::vector<std::filesystem::path> folders_;  // canonical; the first is what locations are relative to
  std::map<std::string, std::shared_ptr<const FileMapping>, std::less<>> files_;
  std::size_t mapped_bytes_ = 0;
};

}  // namespace sardonyx::onnx
