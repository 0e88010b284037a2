#include <array>
#include <bit>
#include <cstdlib>

#include "provider/cpu/images/decode.h"

namespace sardonyx::provider::cpu {
namespace {

/// Little-endian reads; outside the file they give 0 and clear ok().
class Reader {
 public:
  explicit Reader(EncodedImage bytes) : bytes_(bytes) {}
  std::uint32_t u8(std::size_t at) {
    if (at < bytes_.size()) return bytes_[at];
    ok_ = false;
    return 0;
  }
  std::uint32_t u16(std::size_t at) { return u8(at) | u8(at + 1) << 8; }
  std::uint32_t u32(std::size_t at) { return u16(at) | u16(at + 2) << 16; }
  std::int32_t i32(std::size_t at) { return static_cast<std::int32_t>(u32(at)); }
  bool ok() const { return ok_; }

 private:
  EncodedImage bytes_;
  bool ok_ = true;
};

struct Header {
  std::size_t pixels, palette, entry_size;
  std::int64_t width, height;
  bool from_top;
  std::uint32_t bits, colors;
  std::array<std::uint32_t, 3> masks{};  ///< red, green, blue in 16- and 32-bit pixels
};

constexpr std::size_t kFileHeader = 14, kCoreHeader = 12, kInfoHeader = 40;

std::optional<Header> read_header(Reader& in) {
  Header header{};
  header.pixels = in.u32(10);
  const std::size_t size = in.u32(kFileHeader);
  if (size == kCoreHeader) {
    header.width = in.u16(18);
    header.height = in.u16(20);
    header.bits = in.u16(24);
    header.entry_size = 3;
    header.palette = kFileHeader + kCoreHeader;
  } else if (size >= kInfoHeader && size < 1024) {
    header.width = in.i32(18);
    header.height = in.i32(22);
    header.bits = in.u16(28);
    header.entry_size = 4;
    header.palette = kFileHeader + size;
    header.colors = in.u32(46);
    const std::uint32_t compression = in.u32(30);
    constexpr std::uint32_t kPlain = 0, kBitFields = 3, kAlphaBitFields = 6;
    const bool fields = compression == kBitFields || compression == kAlphaBitFields;
    if (compression != kPlain && !fields) return std::nullopt;
    if (header.bits == 16) header.masks = {0x7C00, 0x03E0, 0x001F};
    if (header.bits == 32) header.masks = {0xFF0000, 0x00FF00, 0x0000FF};
    if (fields) {
      header.masks = {in.u32(54), in.u32(58), in.u32(62)};
      if (size == kInfoHeader) header.palette += 12;
    }
  } else {
    return std::nullopt;
  }
  header.from_top = header.height < 0;
  header.height = std::abs(header.height);
  const bool known = header.bits == 1 || header.bits == 4 || header.bits == 8 || header.bits == 16 ||
                     header.bits == 24 || header.bits == 32;
  if (!in.ok() || !known || header.width <= 0 || header.height <= 0) return std::nullopt;
  return header;
}

/// The bits under a mask, stretched to 8 bits.
std::uint8_t channel(std::uint32_t pixel, std::uint32_t mask) {
  if (mask == 0) return 0;
  const int shift = std::countr_zero(mask);
  const std::uint64_t most = mask >> shift;
  return static_cast<std::uint8_t>(((pixel & mask) >> shift) * std::uint64_t{255} / most);
}

}  // namespace

std::optional<DecodedImage> decode_bmp(EncodedImage bytes) {
  Reader in(bytes);
  const std::optional<Header> header = read_header(in);
  if (!header) return std::nullopt;
  const auto bits = static_cast<std::int64_t>(header->bits);
  const std::int64_t stride = (header->width * bits + 31) / 32 * 4;
  if (header->height > static_cast<std::int64_t>(bytes.size()) / stride)
    return std::nullopt;  // before any memory is taken
  DecodedImage image(header->height, header->width);
  for (std::int64_t y = 0; y < image.height; ++y) {
    const std::size_t row =
        header->pixels + static_cast<std::size_t>((header->from_top ? y : image.height - 1 - y) * stride);
    for (std::int64_t x = 0; x < image.width; ++x) {
      std::uint8_t* out = image.pixel(y, x);
      const std::size_t at = row + static_cast<std::size_t>(x * bits / 8);
      if (bits <= 8) {
        const std::uint32_t index = in.u8(at) >> (8 - bits - x * bits % 8) & ((1u << bits) - 1);
        const std::size_t entry = header->palette + index * header->entry_size;
        for (std::size_t c = 0; c < 3; ++c) out[c] = static_cast<std::uint8_t>(in.u8(entry + 2 - c));
      } else if (bits == 24) {
        for (std::size_t c = 0; c < 3; ++c) out[c] = static_cast<std::uint8_t>(in.u8(at + 2 - c));
      } else {
        const std::uint32_t pixel = bits == 16 ? in.u16(at) : in.u32(at);
        for (std::size_t c = 0; c < 3; ++c) out[c] = channel(pixel, header->masks[c]);
      }
    }
  }
  if (!in.ok()) return std::nullopt;
  return image;
}

}  // namespace sardonyx::provider::cpu
