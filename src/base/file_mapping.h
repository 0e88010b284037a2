#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sardonyx {

/// Which file, in which state: what a cache keyed by a file compares.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;  ///< time of the last change of content, since 1970

  bool operator==(const FileIdentity&) const = default;
};

/// A regular file mapped read-only. Movable; the mapping lives as long as the object. Reading is safe from any number of
/// threads. The file must not be truncated while mapped (replace files by rename): reading beyond its end kills the process.
class FileMapping {
 public:
  FileMapping() = default;
  /// Throws Error: kNotFound when there is no such file, kIo when it cannot be read or is no regular file.
  explicit FileMapping(const std::string& path);
  FileMapping(FileMapping&& other) noexcept;
  FileMapping& operator=(FileMapping&& other) noexcept;
  ~FileMapping();

  const std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::span<const std::byte> bytes() const { return {data_, size_}; }
  std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }
  const std::string& path() const { return path_; }
  const FileIdentity& identity() const { return identity_; }

  /// Gives the memory of whole pages inside [offset, offset + length) back. Their content stays readable (it is read from
  /// the file again). Call it for what has been copied out.
  void drop_pages(std::size_t offset, std::size_t length) const noexcept;
  /// Asks for [offset, offset + length) to be read ahead.
  void read_ahead(std::size_t offset, std::size_t length) const noexcept;

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::string path_;
  FileIdentity identity_;
};

/// The whole content of a file. Throws Error: kNotFound, kIo, or kResourceExhausted when it is longer than `max_size` bytes.
std::string read_file(const std::string& path, std::size_t max_size = SIZE_MAX);

/// Replaces or creates `path` in one step: readers see the old content or the new, never a part. Throws Error(kIo), saying
/// so when the disk is full; `path` is then as before and nothing is left behind.
void write_file(const std::string& path, std::span<const std::byte> content);
void write_file(const std::string& path, std::string_view content);

/// Identity of an existing file; throws as FileMapping does.
FileIdentity identify_file(const std::string& path);

}  // namespace sardonyx
