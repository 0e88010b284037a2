#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sardonyx::values {

/// Reads members of a .zip archive that is held in memory: stored or deflated, Zip64 included; not encrypted, not
/// split.
class ZipReader {
 public:
  struct Entry {
    std::string name;
    std::uint64_t size = 0;  ///< as the archive claims; reading checks it
    std::uint64_t compressed_size = 0;
    std::uint32_t crc = 0;
    std::uint16_t method = 0;
    std::uint64_t data_at = 0;
  };

  /// `archive` must outlive the reader. Throws kInvalidArgument where it is no archive, is broken, or has members that
  /// overlap (a way to make a small file unfold to a huge one).
  ZipReader(std::string_view archive, std::string where);

  const std::vector<Entry>& entries() const { return entries_; }

  /// The content of a member, its length and checksum checked. Throws kInvalidArgument, or kUnsupported for compression
  /// other than deflate.
  std::string read(const Entry& entry) const;

 private:
  struct Directory {
    std::uint64_t at = 0, size = 0, count = 0;
  };
  Directory find_directory() const;
  void read_entries(const Directory& directory);
  void locate_data(Entry& entry, std::uint64_t header_at) const;
  std::string inflate(const Entry& entry, std::string_view data) const;
  template <typename T>
  T number(std::uint64_t at) const;
  [[noreturn]] void broken(std::string_view what) const;

  std::string_view archive_;
  std::string where_;
  std::vector<Entry> entries_;
};

/// Builds a .zip archive of stored members.
class ZipWriter {
 public:
  void add(std::string_view name, std::string_view content);
  /// The whole archive. The writer is empty afterwards.
  std::string finish();

 private:
  struct Entry {
    std::string name;
    std::uint64_t size = 0;
    std::uint32_t crc = 0;
    std::uint64_t at = 0;
  };
  std::string archive_;
  std::vector<Entry> entries_;
};

}  // namespace sardonyx::values
