#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sardonyx::provider::cpu {

/// A picture as 8-bit red, green, blue, row by row from the top.
struct DecodedImage {
  std::int64_t height = 0, width = 0;
  std::vector<std::uint8_t> rgb;  ///< [height, width, 3]

  DecodedImage() = default;
  /// Black. Throws kResourceExhausted above kMaxPixels.
  DecodedImage(std::int64_t height, std::int64_t width);
  std::uint8_t* pixel(std::int64_t row, std::int64_t column) { return rgb.data() + (row * width + column) * 3; }
};

/// Larger pictures are refused before any memory is taken for them.
inline constexpr std::int64_t kMaxPixels = std::int64_t{1} << 27;

using EncodedImage = std::span<const std::uint8_t>;

/// Decodes BMP, JPEG, JPEG 2000, PNG, PNM, TIFF or WebP, told apart by their first bytes. Nothing when the bytes are
/// none of these or are damaged. Transparency is dropped. Throws kResourceExhausted for pictures above kMaxPixels.
std::optional<DecodedImage> decode_image(EncodedImage bytes);

// One format each; the caller has looked at the first bytes.
std::optional<DecodedImage> decode_bmp(EncodedImage bytes);
std::optional<DecodedImage> decode_jpeg(EncodedImage bytes);
std::optional<DecodedImage> decode_jpeg2000(EncodedImage bytes);
std::optional<DecodedImage> decode_png(EncodedImage bytes);
std::optional<DecodedImage> decode_pnm(EncodedImage bytes);
std::optional<DecodedImage> decode_tiff(EncodedImage bytes);
std::optional<DecodedImage> decode_webp(EncodedImage bytes);

}  // namespace sardonyx::provider::cpu
