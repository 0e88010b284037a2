#include <algorithm>
#include <cstring>
#include <memory>
#include <tiffio.h>

#include "provider/cpu/images/decode.h"

namespace sardonyx::provider::cpu {
namespace {

/// A file in memory for libtiff to read.
struct MemoryFile {
  EncodedImage bytes;
  toff_t at = 0;

  static tsize_t read(thandle_t handle, void* to, tsize_t count) {
    auto& file = *static_cast<MemoryFile*>(handle);
    if (count <= 0 || file.at >= file.bytes.size()) return 0;
    const auto taken = std::min<std::size_t>(static_cast<std::size_t>(count), file.bytes.size() - file.at);
    std::memcpy(to, file.bytes.data() + file.at, taken);
    file.at += taken;
    return static_cast<tsize_t>(taken);
  }
  static tsize_t write(thandle_t, void*, tsize_t) { return 0; }
  static toff_t seek(thandle_t handle, toff_t offset, int whence) {
    auto& file = *static_cast<MemoryFile*>(handle);
    file.at = whence == SEEK_SET ? offset : whence == SEEK_CUR ? file.at + offset : file.bytes.size() + offset;
    return file.at;
  }
  static int close(thandle_t) { return 0; }
  static toff_t size(thandle_t handle) { return static_cast<MemoryFile*>(handle)->bytes.size(); }
  static int map(thandle_t, void**, toff_t*) { return 0; }
  static void unmap(thandle_t, void*, toff_t) {}
};

struct Close {
  void operator()(TIFF* tiff) const { TIFFClose(tiff); }
};

/// libtiff would print what it dislikes to the standard error stream.
void silence() {
  static const bool done = [] {
    TIFFSetWarningHandler(nullptr);
    TIFFSetErrorHandler(nullptr);
    return true;
  }();
  static_cast<void>(done);
}

}  // namespace

std::optional<DecodedImage> decode_tiff(EncodedImage bytes) {
  silence();
  MemoryFile file{bytes};
  const std::unique_ptr<TIFF, Close> tiff(TIFFClientOpen("picture", "rm", &file, MemoryFile::read, MemoryFile::write,
                                                         MemoryFile::seek, MemoryFile::close, MemoryFile::size,
                                                         MemoryFile::map, MemoryFile::unmap));
  std::uint32_t width = 0, height = 0;
  if (!tiff || TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &width) == 0 ||
      TIFFGetField(tiff.get(), TIFFTAG_IMAGELENGTH, &height) == 0)
    return std::nullopt;
  DecodedImage image(height, width);
  std::vector<std::uint32_t> raster(static_cast<std::size_t>(width) * height);
  constexpr int kStopAtErrors = 1;
  if (TIFFReadRGBAImageOriented(tiff.get(), width, height, raster.data(), ORIENTATION_TOPLEFT, kStopAtErrors) == 0)
    return std::nullopt;
  for (std::size_t i = 0; i < raster.size(); ++i) {
    image.rgb[i * 3] = static_cast<std::uint8_t>(TIFFGetR(raster[i]));
    image.rgb[i * 3 + 1] = static_cast<std::uint8_t>(TIFFGetG(raster[i]));
    image.rgb[i * 3 + 2] = static_cast<std::uint8_t>(TIFFGetB(raster[i]));
  }
  return image;
}

}  // namespace sardonyx::provider::cpu
