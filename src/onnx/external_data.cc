#include "onnx/external_data.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "base/fail.h"
#include "base/file_mapping.h"

namespace sardonyx::onnx {
namespace fs = std::filesystem;
namespace {

std::uint64_t parse_number(std::string_view key, std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    fail(ErrorCode::kInvalidModel, "external data: '{}' must be a whole number, but is '{}'", key, text);
  }
  return value;
}

bool is_inside(const fs::path& file, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), file.begin(), file.end()).first == folder.end();
}

fs::path real_path(const fs::path& path) {
  std::error_code error;
  fs::path result = fs::canonical(path, error);
  if (error) fail(ErrorCode::kNotFound, "can't resolve '{}': {}", path.string(), error.message());
  return result;
}

}  // namespace

ExternalFiles::ExternalFiles(const fs::path& model_path) {
  const fs::path folder = model_path.parent_path();
  folders_.push_back(real_path(folder.empty() ? fs::path(".") : folder));
  const fs::path real_folder = real_path(model_path).parent_path();
  if (real_folder != folders_.front()) folders_.push_back(real_folder);
}

ExternalFiles ExternalFiles::in_folder(const fs::path& folder) {
  ExternalFiles files;
  if (!folder.empty()) files.folders_.push_back(real_path(folder));
  return files;
}

fs::path ExternalFiles::resolve(const std::string& location) const {
  if (folders_.empty()) {
    fail(ErrorCode::kInvalidModel,
         "a tensor's elements are in the external file '{}', but the model was read from memory; load it from its file",
         location);
  }
  const fs::path relative(location);
  const bool leaves = relative.is_absolute() ||
                      std::any_of(relative.begin(), relative.end(), [](const fs::path& part) { return part == ".."; });
  if (location.empty() || location.find('\0') != std::string::npos || leaves) {
    fail(ErrorCode::kInvalidModel, "external data: location '{}' must be a relative path inside the model's folder",
         location);
  }
  fs::path file = real_path(folders_.front() / relative);
  if (std::none_of(folders_.begin(), folders_.end(), [&](const fs::path& folder) { return is_inside(file, folder); })) {
    fail(ErrorCode::kInvalidModel, "external data: location '{}' leads outside the model's folder, to '{}'", location,
         file.string());
  }
  return file;
}

std::shared_ptr<const FileMapping> ExternalFiles::open(const std::string& location) {
  const auto known = files_.find(location);
  if (known != files_.end()) return known->second;
  auto mapping = std::make_shared<const FileMapping>(resolve(location).string());
  files_.emplace(location, mapping);
  mapped_bytes_ += mapping->size();
  return mapping;
}

MappedBytes ExternalFiles::find(const std::vector<EntryProto>& entries, std::size_t expected_bytes) {
  std::string location;
  std::uint64_t offset = 0;
  std::uint64_t length = expected_bytes;
  for (const EntryProto& entry : entries) {
    if (entry.key == "location") location = entry.value;
    if (entry.key == "offset") offset = parse_number(entry.key, entry.value);
    if (entry.key == "length") length = parse_number(entry.key, entry.value);
  }
  if (length != expected_bytes) {
    fail(ErrorCode::kInvalidModel, "external data: type and shape take {} bytes, but 'length' is {}", expected_bytes,
         length);
  }
  const std::shared_ptr<const FileMapping> file = open(location);
  if (offset > file->size() || length > file->size() - offset) {
    fail(ErrorCode::kInvalidModel, "external data: bytes {} to {} of '{}' are wanted, but the file has {} bytes",
         offset, offset + length, location, file->size());
  }
  return {file->bytes().subspan(offset, length), file};
}

}  // namespace sardonyx::onnx
