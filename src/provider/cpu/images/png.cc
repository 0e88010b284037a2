#include <png.h>

#include "provider/cpu/images/decode.h"

namespace sardonyx::provider::cpu {
namespace {

/// libpng's simplified reader; frees what it holds.
struct PngReader {
  png_image image{};
  PngReader() { image.version = PNG_IMAGE_VERSION; }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;
  ~PngReader() { png_image_free(&image); }
};

}  // namespace

std::optional<DecodedImage> decode_png(EncodedImage bytes) {
  PngReader reader;
  if (png_image_begin_read_from_memory(&reader.image, bytes.data(), bytes.size()) == 0) return std::nullopt;
  DecodedImage image(reader.image.height, reader.image.width);
  reader.image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
  // Transparency would be blended into a background: read it and leave it out.
  const bool alpha = (reader.image.format & PNG_FORMAT_FLAG_ALPHA) != 0;
  reader.image.format = alpha ? PNG_FORMAT_RGBA : PNG_FORMAT_RGB;
  std::vector<std::uint8_t> rgba(alpha ? PNG_IMAGE_SIZE(reader.image) : 0);
  if (png_image_finish_read(&reader.image, nullptr, alpha ? rgba.data() : image.rgb.data(), 0, nullptr) == 0)
    return std::nullopt;
  for (std::size_t i = 0; i * 4 < rgba.size(); ++i) {
    for (std::size_t c = 0; c < 3; ++c) image.rgb[i * 3 + c] = rgba[i * 4 + c];
  }
  return image;
}

}  // namespace sardonyx::provider::cpu
