#include <webp/decode.h>

#include "provider/cpu/images/decode.h"

namespace sardonyx::provider::cpu {

std::optional<DecodedImage> decode_webp(EncodedImage bytes) {
  int width = 0, height = 0;
  if (WebPGetInfo(bytes.data(), bytes.size(), &width, &height) == 0) return std::nullopt;
  DecodedImage image(height, width);
  if (WebPDecodeRGBInto(bytes.data(), bytes.size(), image.rgb.data(), image.rgb.size(), width * 3) == nullptr)
    return std::nullopt;
  return image;
}

}  // namespace sardonyx::provider::cpu
