#include "provider/cpu/images/decode.h"

#include <algorithm>
#include <string_view>

#include "base/fail.h"

namespace sardonyx::provider::cpu {
namespace {

bool begins(EncodedImage bytes, std::string_view magic, std::size_t at = 0) {
  if (bytes.size() < at + magic.size()) return false;
  return std::equal(magic.begin(), magic.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at),
                    [](char a, std::uint8_t b) { return static_cast<std::uint8_t>(a) == b; });
}

}  // namespace

DecodedImage::DecodedImage(std::int64_t h, std::int64_t w) : height(h), width(w) {
  if (h < 0 || w < 0 || (w > 0 && h > kMaxPixels / w)) {
    fail(ErrorCode::kResourceExhausted, "a picture of {} x {} pixels is above the limit of {} pixels", w, h,
         kMaxPixels);
  }
  rgb.resize(static_cast<std::size_t>(h * w * 3));
}

std::optional<DecodedImage> decode_image(EncodedImage bytes) {
  using namespace std::string_view_literals;
  if (begins(bytes, "\xFF\xD8\xFF"sv)) return decode_jpeg(bytes);
  if (begins(bytes, "\x89PNG\r\n\x1A\n"sv)) return decode_png(bytes);
  if (begins(bytes, "BM"sv)) return decode_bmp(bytes);
  if (begins(bytes, "II*\0"sv) || begins(bytes, "MM\0*"sv) || begins(bytes, "II+\0"sv) || begins(bytes, "MM\0+"sv))
    return decode_tiff(bytes);
  if (begins(bytes, "RIFF"sv) && begins(bytes, "WEBP"sv, 8)) return decode_webp(bytes);
  if (begins(bytes, "\xFF\x4F\xFF\x51"sv) || begins(bytes, "\0\0\0\x0CjP  "sv)) return decode_jpeg2000(bytes);
  if (bytes.size() > 2 && bytes[0] == 'P' && bytes[1] >= '1' && bytes[1] <= '6') return decode_pnm(bytes);
  return std::nullopt;
}

}  // namespace sardonyx::provider::cpu
