#include "base/file_mapping.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "base/fail.h"
#include "base/mapped_pages.h"

namespace sardonyx {
namespace {

class FileDescriptor {
 public:
  explicit FileDescriptor(int number) : number_(number) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }
  /// Closes now; false with errno set when the system reports a failed write only here.
  bool close() { return ::close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

[[noreturn]] void fail_io(const char* what, const std::string& path) {
  const int error = errno;
  const ErrorCode code = error == ENOENT || error == ENOTDIR ? ErrorCode::kNotFound : ErrorCode::kIo;
  if (error == ENOSPC || error == EDQUOT) fail(ErrorCode::kIo, "could not {} '{}': the disk is full; free space and try again", what, path);
  fail(code, "could not {} '{}': {}", what, path, std::strerror(error));
}

FileIdentity identity_of(const struct stat& status) {
  FileIdentity identity;
  identity.device = status.st_dev;
  identity.inode = status.st_ino;
  identity.size = static_cast<std::uint64_t>(status.st_size);
  identity.modified_ns = static_cast<std::int64_t>(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec;
  return identity;
}

void check_regular(const struct stat& status, const std::string& path) {
  if (S_ISDIR(status.st_mode)) fail(ErrorCode::kIo, "'{}' is a directory; expected a file", path);
  if (!S_ISREG(status.st_mode)) fail(ErrorCode::kIo, "'{}' is not a regular file, so it cannot be mapped", path);
}

void write_all(int file, std::span<const std::byte> content, const std::string& path) {
  constexpr std::size_t kLongestWrite = std::size_t{1} << 30;
  while (!content.empty()) {
    const ssize_t count = ::write(file, content.data(), std::min(content.size(), kLongestWrite));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_io("write", path);
    content = content.subspan(static_cast<std::size_t>(count));
  }
}

/// Pages wholly inside [offset, offset + length) of the mapping, given to madvise.
void advise(const std::byte* data, std::size_t size, std::size_t offset, std::size_t length, int advice, bool inner) noexcept {
  if (offset >= size) return;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t end = length < size - offset ? offset + length : size;
  const std::size_t from = (inner ? offset + page - 1 : offset) / page * page;
  const std::size_t to = inner && end != size ? end / page * page : end;
  if (from < to) madvise(const_cast<std::byte*>(data) + from, to - from, advice);
}

/// All live mappings by address, so that a view into one can be told from other memory.
struct LiveMappings {
  std::mutex mutex;
  std::map<const std::byte*, std::size_t> size_of;
};
LiveMappings& live_mappings() {
  static auto* mappings = new LiveMappings();  // never destroyed: mappings may outlive static destruction
  return *mappings;
}

}  // namespace

void give_back_mapped_pages(const void* data, std::size_t bytes) noexcept {
  LiveMappings& live = live_mappings();
  const std::lock_guard lock(live.mutex);
  const auto* begin = static_cast<const std::byte*>(data);
  auto it = live.size_of.upper_bound(begin);
  if (it == live.size_of.begin()) return;
  --it;
  const auto offset = static_cast<std::size_t>(begin - it->first);
  if (offset < it->second && bytes <= it->second - offset) advise(it->first, it->second, offset, bytes, MADV_DONTNEED, true);
}

FileMapping::FileMapping(const std::string& path) : path_(path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.number() < 0) fail_io("open", path);
  struct stat status;
  if (::fstat(file.number(), &status) != 0) fail_io("inspect", path);
  check_regular(status, path);
  identity_ = identity_of(status);
  size_ = identity_.size;
  if (size_ == 0) return;
  void* address = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (address == MAP_FAILED) fail_io("map", path);
  data_ = static_cast<const std::byte*>(address);
  LiveMappings& live = live_mappings();
  const std::lock_guard lock(live.mutex);
  live.size_of[data_] = size_;
}

FileMapping::FileMapping(FileMapping&& other) noexcept { *this = std::move(other); }

FileMapping& FileMapping::operator=(FileMapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(path_, other.path_);
  std::swap(identity_, other.identity_);
  return *this;
}

FileMapping::~FileMapping() {
  if (data_ == nullptr) return;
  {
    LiveMappings& live = live_mappings();
    const std::lock_guard lock(live.mutex);
    live.size_of.erase(data_);
  }
  ::munmap(const_cast<std::byte*>(data_), size_);
}

void FileMapping::drop_pages(std::size_t offset, std::size_t length) const noexcept {
  advise(data_, size_, offset, length, MADV_DONTNEED, true);
}

void FileMapping::read_ahead(std::size_t offset, std::size_t length) const noexcept {
  advise(data_, size_, offset, length, MADV_WILLNEED, false);
}

std::string read_file(const std::string& path, std::size_t max_size) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number() < 0) fail_io("open", path);
  std::string content;
  struct stat status;
  if (::fstat(file.number(), &status) == 0 && S_ISREG(status.st_mode)) {
    if (static_cast<std::uint64_t>(status.st_size) <= max_size) content.reserve(static_cast<std::size_t>(status.st_size) + 1);
  }
  constexpr std::size_t kStep = std::size_t{1} << 20;
  for (;;) {
    const std::size_t have = content.size();
    content.resize(std::max(content.capacity(), have + std::min(kStep, have + 4096)));
    const ssize_t count = ::read(file.number(), content.data() + have, content.size() - have);
    const int error = errno;
    content.resize(have + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    errno = error;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_io("read", path);
    if (content.size() > max_size) {
      fail(ErrorCode::kResourceExhausted, "'{}' is longer than the limit of {} bytes", path, max_size);
    }
    if (count == 0) return content;
  }
}

void write_file(const std::string& path, std::span<const std::byte> content) {
  static std::atomic<unsigned> counter{0};
  const std::string temporary = fmt::format("{}.{}.{}.tmp", path, ::getpid(), counter.fetch_add(1));
  FileDescriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (file.number() < 0) fail_io("create a temporary file beside", path);
  try {
    write_all(file.number(), content, path);
    if (::fsync(file.number()) != 0 || !file.close()) fail_io("write", path);
    if (::rename(temporary.c_str(), path.c_str()) != 0) fail_io("replace", path);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
}

void write_file(const std::string& path, std::string_view content) {
  write_file(path, std::as_bytes(std::span(content.data(), content.size())));
}

FileIdentity identify_file(const std::string& path) {
  struct stat status;
  if (::stat(path.c_str(), &status) != 0) fail_io("inspect", path);
  check_regular(status, path);
  return identity_of(status);
}

}  // namespace sardonyx
