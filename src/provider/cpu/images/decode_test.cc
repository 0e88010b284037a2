#include "provider/cpu/images/decode.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>

#include "sardonyx/error.h"

namespace sardonyx::provider::cpu {
namespace {

std::vector<std::uint8_t> bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

void expect_pixels(const std::vector<std::uint8_t>& file, std::int64_t height, std::int64_t width,
                   const std::vector<std::uint8_t>& rgb) {
  const auto image = decode_image(file);
  ASSERT_TRUE(image);
  EXPECT_EQ(image->height, height);
  EXPECT_EQ(image->width, width);
  EXPECT_EQ(image->rgb, rgb);
}

TEST(DecodePnm, EveryFormat) {
  struct Case {
    const char* name;
    std::string file;
    std::vector<std::uint8_t> rgb;  ///< of 1 x 2 pixels
  };
  using namespace std::string_literals;
  const Case cases[] = {
      {"plain bitmap", "P1\n# a comment\n2 1\n10", {0, 0, 0, 255, 255, 255}},
      {"plain gray", "P2 2 1 15 0 15", {0, 0, 0, 255, 255, 255}},
      {"plain color", "P3 2 1 255\n1 2 3 4 5 6", {1, 2, 3, 4, 5, 6}},
      {"raw bitmap", "P4 2 1\n\x40", {255, 255, 255, 0, 0, 0}},
      {"raw gray", "P5 2 1 255\n\x07\x09", {7, 7, 7, 9, 9, 9}},
      {"raw color", "P6 2 1 255\n\x01\x02\x03\x04\x05\x06", {1, 2, 3, 4, 5, 6}},
      {"two bytes a sample", "P5 2 1 65535\n\xFF\xFF\x80\x80"s, {255, 255, 255, 128, 128, 128}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    expect_pixels(bytes_of(c.file), 1, 2, c.rgb);
  }
}

/// A BMP file: header, palette or masks, and pixel rows.
std::vector<std::uint8_t> bmp(std::int32_t width, std::int32_t height, int bits, std::uint32_t compression,
                              const std::vector<std::uint8_t>& tables, const std::vector<std::uint8_t>& pixels) {
  std::vector<std::uint8_t> file = {'B', 'M'};
  const auto u32 = [&](std::uint32_t v) {
    for (int i = 0; i < 4; ++i) file.push_back(static_cast<std::uint8_t>(v >> (8 * i)));
  };
  const auto offset = static_cast<std::uint32_t>(54 + tables.size());
  u32(offset + static_cast<std::uint32_t>(pixels.size())), u32(0), u32(offset);
  u32(40), u32(static_cast<std::uint32_t>(width)), u32(static_cast<std::uint32_t>(height));
  u32(1u | static_cast<std::uint32_t>(bits) << 16), u32(compression), u32(0), u32(0), u32(0), u32(0), u32(0);
  file.insert(file.end(), tables.begin(), tables.end());
  file.insert(file.end(), pixels.begin(), pixels.end());
  return file;
}

TEST(DecodeBmp, EveryDepth) {
  const std::vector<std::uint8_t> palette = {0, 0, 0, 0, 3, 2, 1, 0};  // black, and red 1, green 2, blue 3
  expect_pixels(bmp(2, 1, 24, 0, {}, {3, 2, 1, 6, 5, 4, 0, 0}), 1, 2, {1, 2, 3, 4, 5, 6});
  expect_pixels(bmp(1, 2, 24, 0, {}, {3, 2, 1, 0, 6, 5, 4, 0}), 2, 1, {4, 5, 6, 1, 2, 3});   // rows from the bottom
  expect_pixels(bmp(1, -2, 24, 0, {}, {3, 2, 1, 0, 6, 5, 4, 0}), 2, 1, {1, 2, 3, 4, 5, 6});  // and from the top
  expect_pixels(bmp(1, 1, 32, 0, {}, {3, 2, 1, 9}), 1, 1, {1, 2, 3});
  expect_pixels(bmp(2, 1, 1, 0, palette, {0x40, 0, 0, 0}), 1, 2, {0, 0, 0, 1, 2, 3});
  expect_pixels(bmp(2, 1, 4, 0, palette, {0x01, 0, 0, 0}), 1, 2, {0, 0, 0, 1, 2, 3});
  expect_pixels(bmp(2, 1, 8, 0, palette, {1, 0, 0, 0}), 1, 2, {1, 2, 3, 0, 0, 0});
  expect_pixels(bmp(1, 1, 16, 0, {}, {0x1F, 0x7C, 0, 0}), 1, 1, {255, 0, 255});
  expect_pixels(bmp(1, 1, 16, 3, {0, 0xF8, 0, 0, 0xE0, 0x07, 0, 0, 0x1F, 0, 0, 0}, {0xE0, 0x07, 0, 0}), 1, 1,
                {0, 255, 0});
}

TEST(DecodeImage, DamagedFilesGiveNothing) {
  const std::vector<std::vector<std::uint8_t>> files = {{},
                                                        {'B'},
                                                        {'P'},
                                                        bytes_of("text"),
                                                        bytes_of("P6 2 1 255\n\x01"),
                                                        bytes_of("P6 99999 99999 255\n\x01"),
                                                        bytes_of("P5 -1 1 255\n\x01"),
                                                        bytes_of("P2 1 1 255"),
                                                        bmp(2, 1, 24, 0, {}, {3, 2, 1}),
                                                        bmp(2, 1, 8, 1, {}, {3, 2, 1, 0}),
                                                        bmp(2, 1, 7, 0, {}, {3, 2, 1, 0}),
                                                        bmp(0x7FFFFFFF, 0x7FFFFFFF, 24, 0, {}, {0}),
                                                        bytes_of("\xFF\xD8\xFF\xE0 not a picture"),
                                                        bytes_of("\x89PNG\r\n\x1A\n not a picture"),
                                                        bytes_of(std::string("II*\0\xFF\xFF\xFF\x7F", 8)),
                                                        bytes_of("RIFF\x10\x10\x10\x10WEBPVP8 "),
                                                        bytes_of("\xFF\x4F\xFF\x51 not a picture"),
                                                        bytes_of(std::string("\0\0\0\x0CjP  \r\n\x87\n", 12))};
  for (const auto& file : files) {
    SCOPED_TRACE(std::string(file.begin(), file.end()));
    EXPECT_FALSE(decode_image(file));
  }
}

TEST(DecodeImage, SizesAreBoundedBeforeMemoryIsTaken) {
  EXPECT_THROW(DecodedImage(std::int64_t{1} << 40, std::int64_t{1} << 40), Error);
  EXPECT_THROW(DecodedImage(kMaxPixels, 2), Error);
  EXPECT_NO_THROW(DecodedImage(0, 5));
}

}  // namespace
}  // namespace sardonyx::provider::cpu
