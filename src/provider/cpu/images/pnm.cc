#include <algorithm>

#include "provider/cpu/images/decode.h"

namespace sardonyx::provider::cpu {
namespace {

/// Reads a PNM file's numbers: ASCII in headers and the plain formats, bytes in the raw ones. The end of the file
/// clears ok().
class PnmReader {
 public:
  explicit PnmReader(EncodedImage bytes) : bytes_(bytes) {}
  bool ok() const { return ok_; }

  /// A decimal number after white space and comments.
  std::int64_t number() {
    skip();
    std::int64_t value = -1;
    for (; at_ < bytes_.size() && bytes_[at_] >= '0' && bytes_[at_] <= '9'; ++at_) {
      value = std::max<std::int64_t>(value, 0) * 10 + (bytes_[at_] - '0');
      if (value > kMost) break;
    }
    ok_ &= value >= 0 && value <= kMost;
    return ok_ ? value : 0;
  }
  /// One digit of a plain bitmap, whose pixels need not be apart.
  std::int64_t digit() {
    skip();
    const std::int64_t value = byte() - '0';
    ok_ &= value == 0 || value == 1;
    return value;
  }
  std::int64_t byte() {
    if (at_ < bytes_.size()) return bytes_[at_++];
    ok_ = false;
    return 0;
  }
  void skip_one() { ++at_; }
  std::size_t left() const { return at_ < bytes_.size() ? bytes_.size() - at_ : 0; }

 private:
  static constexpr std::int64_t kMost = 1 << 30;

  void skip() {
    for (; at_ < bytes_.size(); ++at_) {
      if (bytes_[at_] == '#') {
        while (at_ < bytes_.size() && bytes_[at_] != '\n') ++at_;
      } else if (bytes_[at_] != ' ' && (bytes_[at_] < '\t' || bytes_[at_] > '\r')) {
        return;
      }
    }
  }

  EncodedImage bytes_;
  std::size_t at_ = 2;  // after "P6"
  bool ok_ = true;
};

struct PnmHeader {
  int format;  ///< 1 … 6
  std::int64_t width, height, most;
  bool raw() const { return format >= 4; }
  bool bitmap() const { return format == 1 || format == 4; }
  std::int64_t channels() const { return format == 3 || format == 6 ? 3 : 1; }
  /// The fewest bytes that the pixels can take.
  std::int64_t least_bytes() const {
    if (format == 4) return (width + 7) / 8 * height;
    return width * height * channels() * (raw() && most > 255 ? 2 : 1);
  }
};

std::uint8_t sample(PnmReader& in, const PnmHeader& header) {
  std::int64_t value = 0;
  if (!header.raw())
    value = in.number();
  else if (header.most > 255)
    value = in.byte() << 8, value |= in.byte();
  else
    value = in.byte();
  value = std::min(value, header.most);
  return static_cast<std::uint8_t>(header.most == 255 ? value : (value * 255 + header.most / 2) / header.most);
}

void read_bitmap(PnmReader& in, const PnmHeader& header, DecodedImage& image) {
  for (std::int64_t y = 0; y < image.height; ++y) {
    std::int64_t packed = 0;
    for (std::int64_t x = 0; x < image.width && in.ok(); ++x) {
      if (header.raw() && x % 8 == 0) packed = in.byte();
      const bool black = header.raw() ? (packed >> (7 - x % 8) & 1) != 0 : in.digit() != 0;
      std::fill_n(image.pixel(y, x), 3, black ? 0 : 255);
    }
  }
}

}  // namespace

std::optional<DecodedImage> decode_pnm(EncodedImage bytes) {
  PnmReader in(bytes);
  PnmHeader header{bytes[1] - '0', in.number(), in.number(), 1};
  if (!header.bitmap()) header.most = in.number();
  in.skip_one();  // the white space before raw pixels
  const bool sound = in.ok() && header.width > 0 && header.height > 0 && header.most > 0 && header.most < 65536;
  if (!sound || header.least_bytes() > static_cast<std::int64_t>(in.left())) return std::nullopt;
  DecodedImage image(header.height, header.width);
  if (header.bitmap()) {
    read_bitmap(in, header, image);
  } else {
    for (std::int64_t i = 0; i < image.height * image.width && in.ok(); ++i) {
      std::uint8_t* out = image.rgb.data() + i * 3;
      out[0] = sample(in, header);
      for (int c : {1, 2}) out[c] = header.channels() == 3 ? sample(in, header) : out[0];
    }
  }
  if (!in.ok()) return std::nullopt;
  return image;
}

}  // namespace sardonyx::provider::cpu
