#include <memory>
#include <turbojpeg.h>

#include "provider/cpu/images/decode.h"

namespace sardonyx::provider::cpu {
namespace {

struct Destroy {
  void operator()(void* handle) const { tjDestroy(handle); }
};

/// Inks as files hold them (inverted, as Adobe writes them) to light.
DecodedImage from_cmyk(const std::vector<std::uint8_t>& cmyk, std::int64_t height, std::int64_t width) {
  DecodedImage image(height, width);
  for (std::int64_t i = 0; i < height * width; ++i) {
    const std::uint8_t* in = cmyk.data() + i * 4;
    for (std::int64_t c = 0; c < 3; ++c)
      image.rgb[static_cast<std::size_t>(i * 3 + c)] = static_cast<std::uint8_t>(in[c] * in[3] / 255);
  }
  return image;
}

}  // namespace

std::optional<DecodedImage> decode_jpeg(EncodedImage bytes) {
  const std::unique_ptr<void, Destroy> handle(tjInitDecompress());
  int width = 0, height = 0, subsampling = 0, color = 0;
  const auto size = static_cast<unsigned long>(bytes.size());
  if (!handle || tjDecompressHeader3(handle.get(), bytes.data(), size, &width, &height, &subsampling, &color) != 0)
    return std::nullopt;
  DecodedImage image(height, width);
  // A damaged file gives what could be read and an error that is only a warning; it counts as damaged.
  if (color == TJCS_CMYK || color == TJCS_YCCK) {
    std::vector<std::uint8_t> cmyk(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 4);
    if (tjDecompress2(handle.get(), bytes.data(), size, cmyk.data(), width, 0, height, TJPF_CMYK, 0) != 0)
      return std::nullopt;
    return from_cmyk(cmyk, height, width);
  }
  if (tjDecompress2(handle.get(), bytes.data(), size, image.rgb.data(), width, 0, height, TJPF_RGB, 0) != 0)
    return std::nullopt;
  return image;
}

}  // namespace sardonyx::provider::cpu
