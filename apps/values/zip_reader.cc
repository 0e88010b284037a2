// The format: PKWARE's APPNOTE.TXT 6.3, sections 4.3 (structures) and 4.5.3 (Zip64).
#include <algorithm>
#include <cstring>
#include <zlib.h>

#include "apps/values/zip.h"
#include "base/fail.h"

namespace sardonyx::values {
namespace {

constexpr std::uint32_t kLocalHeader = 0x04034b50, kCentralHeader = 0x02014b50, kEnd = 0x06054b50;
constexpr std::uint32_t kEnd64 = 0x06064b50, kEnd64Locator = 0x07064b50;
constexpr std::uint64_t kLocalSize = 30, kCentralSize = 46, kEndSize = 22, kEnd64Size = 56, kLocatorSize = 20;
constexpr std::uint64_t kMostEntries = 1u << 16;
/// No deflate stream unfolds further than this.
constexpr std::uint64_t kMostDeflateRatio = 1032;

}  // namespace

void ZipReader::broken(std::string_view what) const {
  fail(ErrorCode::kInvalidArgument, "{}: expected a .npz file (a zip archive of arrays), but {}", where_, what);
}

template <typename T>
T ZipReader::number(std::uint64_t at) const {
  if (at > archive_.size() || sizeof(T) > archive_.size() - at) broken("it ends in the middle of a header");
  T value;
  std::memcpy(&value, archive_.data() + at, sizeof(T));
  return value;
}

ZipReader::ZipReader(std::string_view archive, std::string where) : archive_(archive), where_(std::move(where)) {
  read_entries(find_directory());
}

ZipReader::Directory ZipReader::find_directory() const {
  if (archive_.size() < kEndSize) broken("it is too short for one");
  // The end record is followed by a comment of up to 65,535 bytes.
  const std::uint64_t last = archive_.size() - kEndSize;
  const std::uint64_t first = last > 0xffff ? last - 0xffff : 0;
  for (std::uint64_t at = last + 1; at-- > first;) {
    if (number<std::uint32_t>(at) != kEnd) continue;
    Directory directory{number<std::uint32_t>(at + 16), number<std::uint32_t>(at + 12), number<std::uint16_t>(at + 10)};
    const bool zip64 = directory.at == 0xffffffff || directory.size == 0xffffffff || directory.count == 0xffff;
    if (!zip64) return directory;
    if (at < kLocatorSize || number<std::uint32_t>(at - kLocatorSize) != kEnd64Locator) return directory;
    const auto end64 = number<std::uint64_t>(at - kLocatorSize + 8);
    if (number<std::uint32_t>(end64) != kEnd64) broken("its Zip64 end record isn't where its locator says");
    number<std::uint64_t>(end64 + kEnd64Size - 8);
    return {number<std::uint64_t>(end64 + 48), number<std::uint64_t>(end64 + 40), number<std::uint64_t>(end64 + 32)};
  }
  broken("it has no directory at its end");
}

void ZipReader::read_entries(const Directory& directory) {
  if (directory.at > archive_.size() || directory.size > archive_.size() - directory.at)
    broken("its directory lies outside of it");
  if (directory.count > kMostEntries || directory.count > directory.size / kCentralSize) {
    broken(fmt::format("its directory of {} bytes can't have {} members", directory.size, directory.count));
  }
  std::uint64_t at = directory.at;
  for (std::uint64_t i = 0; i < directory.count; ++i) {
    if (number<std::uint32_t>(at) != kCentralHeader) broken("a directory record is missing");
    const auto name_size = number<std::uint16_t>(at + 28), extra_size = number<std::uint16_t>(at + 30);
    if (number<std::uint16_t>(at + 8) & 1) broken("a member is encrypted");
    Entry entry{.size = number<std::uint32_t>(at + 24),
                .compressed_size = number<std::uint32_t>(at + 20),
                .crc = number<std::uint32_t>(at + 16),
                .method = number<std::uint16_t>(at + 10)};
    std::uint64_t header_at = number<std::uint32_t>(at + 42);
    const std::uint64_t extra_end = at + kCentralSize + name_size + extra_size;
    if (extra_end > archive_.size()) broken("a directory record ends outside of it");
    entry.name = archive_.substr(at + kCentralSize, name_size);
    for (std::uint64_t field = at + kCentralSize + name_size; field + 4 <= extra_end;) {
      const auto id = number<std::uint16_t>(field), size = number<std::uint16_t>(field + 2);
      if (id == 1) {  // Zip64: those of the three that overflowed, in this order
        std::uint64_t value_at = field + 4;
        for (std::uint64_t* value : {&entry.size, &entry.compressed_size, &header_at}) {
          if (*value != 0xffffffff) continue;
          if (value_at + 8 > field + 4 + size) broken("a Zip64 field is too short");
          *value = number<std::uint64_t>(value_at);
          value_at += 8;
        }
      }
      field += 4u + size;
    }
    locate_data(entry, header_at);
    entries_.push_back(std::move(entry));
    at = extra_end;
  }
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  for (const Entry& entry : entries_) ranges.emplace_back(entry.data_at, entry.data_at + entry.compressed_size);
  std::sort(ranges.begin(), ranges.end());
  for (std::size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].first < ranges[i - 1].second) broken("its members overlap");
  }
}

void ZipReader::locate_data(Entry& entry, std::uint64_t header_at) const {
  if (number<std::uint32_t>(header_at) != kLocalHeader)
    broken("member '" + entry.name + "' isn't where the directory says");
  entry.data_at =
      header_at + kLocalSize + number<std::uint16_t>(header_at + 26) + number<std::uint16_t>(header_at + 28);
  if (entry.data_at > archive_.size() || entry.compressed_size > archive_.size() - entry.data_at) {
    broken("member '" + entry.name + "' ends outside of it");
  }
}

std::string ZipReader::inflate(const Entry& entry, std::string_view data) const {
  if (entry.size / kMostDeflateRatio > entry.compressed_size + 1) {
    broken("member '" + entry.name + "' claims to unfold further than deflate can");
  }
  std::string out(entry.size, '\0');
  z_stream stream = {};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) fail(ErrorCode::kResourceExhausted, "zlib has no memory");
  std::uint64_t read = 0, written = 0;
  int status = Z_OK;
  char spare = 0;  // where a stream goes on beyond its claimed size
  while (status == Z_OK) {
    constexpr std::uint64_t kChunk = 1u << 30;
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data() + read));
    stream.avail_in = static_cast<uInt>(std::min(kChunk, data.size() - read));
    const std::uint64_t room = out.size() - written;
    stream.next_out = reinterpret_cast<Bytef*>(room > 0 ? out.data() + written : &spare);
    stream.avail_out = room > 0 ? static_cast<uInt>(std::min(kChunk, room)) : 1;
    const std::uint64_t in = stream.avail_in, space = stream.avail_out;
    status = ::inflate(&stream, Z_NO_FLUSH);
    read += in - stream.avail_in;
    if (room > 0)
      written += space - stream.avail_out;
    else if (stream.avail_out == 0)
      status = Z_DATA_ERROR;
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END || written != out.size()) broken("member '" + entry.name + "' doesn't unfold to its size");
  return out;
}

std::string ZipReader::read(const Entry& entry) const {
  const std::string_view data = archive_.substr(entry.data_at, entry.compressed_size);
  std::string out;
  if (entry.method == 0) {
    if (entry.size != entry.compressed_size) broken("stored member '" + entry.name + "' has two sizes");
    out = data;
  } else if (entry.method == Z_DEFLATED) {
    out = inflate(entry, data);
  } else {
    fail(ErrorCode::kUnsupported,
         "{}: member '{}' is compressed by method {}; write it with numpy.savez or savez_compressed", where_,
         entry.name, entry.method);
  }
  const auto crc = crc32_z(0, reinterpret_cast<const Bytef*>(out.data()), out.size());
  if (crc != entry.crc) broken("the checksum of member '" + entry.name + "' is wrong: the file is damaged");
  return out;
}

}  // namespace sardonyx::values
