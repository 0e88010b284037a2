#include <algorithm>
#include <zlib.h>

#include "apps/values/zip.h"

namespace sardonyx::values {
namespace {

constexpr std::uint64_t kLimit32 = 0xffffffff;

template <typename T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}
void put16(std::string& out, std::uint64_t value) { put(out, static_cast<std::uint16_t>(value)); }
void put32(std::string& out, std::uint64_t value) { put(out, static_cast<std::uint32_t>(value)); }
void put64(std::string& out, std::uint64_t value) { put(out, value); }

constexpr std::uint64_t kVersion = 45;       // Zip64
constexpr std::uint64_t kDate = 1 << 5 | 1;  // 1 January 1980: archives of the same content are the same bytes

/// What local and central headers share, from "version needed" to "extra length".
void put_common(std::string& out, std::uint32_t crc, std::uint64_t size32, std::size_t name_size,
                std::size_t extra_size) {
  put16(out, kVersion);
  put16(out, 1u << 11);  // the name is UTF-8
  put16(out, 0);         // stored
  put16(out, 0);
  put16(out, kDate);
  put32(out, crc);
  put32(out, size32);
  put32(out, size32);
  put16(out, name_size);
  put16(out, extra_size);
}

}  // namespace

void ZipWriter::add(std::string_view name, std::string_view content) {
  Entry entry{.name = std::string(name), .size = content.size(), .at = archive_.size()};
  entry.crc = static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()));
  const bool large = entry.size >= kLimit32;
  put32(archive_, 0x04034b50);
  put_common(archive_, entry.crc, large ? kLimit32 : entry.size, name.size(), large ? 20 : 0);
  archive_ += name;
  if (large) {
    put16(archive_, 1);
    put16(archive_, 16);
    put64(archive_, entry.size);
    put64(archive_, entry.size);
  }
  archive_ += content;
  entries_.push_back(std::move(entry));
}

std::string ZipWriter::finish() {
  const std::uint64_t directory_at = archive_.size();
  for (const Entry& entry : entries_) {
    const bool large = entry.size >= kLimit32, far = entry.at >= kLimit32;
    const std::size_t extra = (large ? 16 : 0) + (far ? 8 : 0);
    put32(archive_, 0x02014b50);
    put16(archive_, 3u << 8 | kVersion);  // made on Unix
    put_common(archive_, entry.crc, large ? kLimit32 : entry.size, entry.name.size(), extra == 0 ? 0 : extra + 4);
    put16(archive_, 0);  // no comment
    put16(archive_, 0);  // disk
    put16(archive_, 0);
    put32(archive_, 0100644u << 16);
    put32(archive_, far ? kLimit32 : entry.at);
    archive_ += entry.name;
    if (extra == 0) continue;
    put16(archive_, 1);
    put16(archive_, extra);
    if (large) put64(archive_, entry.size);
    if (large) put64(archive_, entry.size);
    if (far) put64(archive_, entry.at);
  }
  const std::uint64_t directory_size = archive_.size() - directory_at;
  if (directory_at >= kLimit32 || entries_.size() >= 0xffff) {
    const std::uint64_t end_at = archive_.size();
    put32(archive_, 0x06064b50);
    put64(archive_, 44);
    put16(archive_, 3u << 8 | kVersion);
    put16(archive_, kVersion);
    put64(archive_, 0);  // disks
    put64(archive_, entries_.size());
    put64(archive_, entries_.size());
    put64(archive_, directory_size);
    put64(archive_, directory_at);
    put32(archive_, 0x07064b50);
    put32(archive_, 0);
    put64(archive_, end_at);
    put32(archive_, 1);
  }
  put32(archive_, 0x06054b50);
  put32(archive_, 0);  // disks
  put16(archive_, std::min<std::uint64_t>(entries_.size(), 0xffff));
  put16(archive_, std::min<std::uint64_t>(entries_.size(), 0xffff));
  put32(archive_, std::min(directory_size, kLimit32));
  put32(archive_, std::min(directory_at, kLimit32));
  put16(archive_, 0);
  entries_.clear();
  return std::move(archive_);
}

}  // namespace sardonyx::values
