#include "apps/values/zip.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "sardonyx/error.h"

namespace sardonyx::values {
namespace {

std::string sample() {
  ZipWriter writer;
  writer.add("a.npy", "first");
  writer.add("b.npy", "");
  writer.add("c.npy", std::string(100000, 'x'));
  return writer.finish();
}

TEST(Zip, WrittenMembersAreRead) {
  const std::string archive = sample();
  const ZipReader reader(archive, "x.npz");
  ASSERT_EQ(reader.entries().size(), 3u);
  EXPECT_EQ(reader.entries()[0].name, "a.npy");
  EXPECT_EQ(reader.read(reader.entries()[0]), "first");
  EXPECT_EQ(reader.read(reader.entries()[1]), "");
  EXPECT_EQ(reader.read(reader.entries()[2]), std::string(100000, 'x'));
}

TEST(Zip, CommentAtTheEnd) {
  std::string archive = sample();
  archive[archive.size() - 2] = 5;
  archive += "hello";
  EXPECT_EQ(ZipReader(archive, "x").entries().size(), 3u);
}

/// Replaces the member's data by a deflated form; sizes and checksum as given.
std::string deflated(const std::string& content, std::uint64_t claimed_size) {
  std::string packed(compressBound(content.size()) + 64, '\0');
  z_stream stream = {};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  ZipWriter writer;
  writer.add("a", packed);
  std::string archive = writer.finish();
  const std::size_t central = archive.rfind("PK\x01\x02");
  const auto crc = static_cast<std::uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(content.data()), static_cast<uInt>(content.size())));
  const auto put32 = [&](std::size_t at, std::uint64_t value) {
    for (int i = 0; i < 4; ++i) archive[at + static_cast<std::size_t>(i)] = static_cast<char>(value >> 8 * i);
  };
  archive[central + 10] = 8;
  put32(central + 16, crc);
  put32(central + 24, claimed_size);
  return archive;
}

TEST(Zip, Deflated) {
  for (const std::string& content : {std::string(), std::string("text"), std::string(1000000, 'z')}) {
    const std::string archive = deflated(content, content.size());
    const ZipReader reader(archive, "x");
    EXPECT_EQ(reader.read(reader.entries()[0]), content);
  }
}

TEST(Zip, SizesThatLieAreErrors) {
  const std::string content(10000, 'z');
  for (std::uint64_t claimed : {0ull, 1ull, 9999ull, 10001ull, 20000ull, 0xfffffff0ull}) {
    const std::string archive = deflated(content, claimed);
    const ZipReader reader(archive, "x");
    EXPECT_THROW(reader.read(reader.entries()[0]), Error) << claimed;
  }
}

TEST(Zip, DamageIsFound) {
  std::string archive = sample();
  archive[archive.find("first")] = 'F';
  const ZipReader reader(archive, "x");
  EXPECT_THROW(reader.read(reader.entries()[0]), Error);
}

TEST(Zip, OverlappingMembersAreErrors) {
  ZipWriter writer;
  writer.add("a", "aaaa");
  writer.add("b", "bbbb");
  std::string archive = writer.finish();
  const std::size_t second = archive.rfind("PK\x01\x02");
  for (int i = 0; i < 4; ++i) archive[second + 42 + static_cast<std::size_t>(i)] = 0;  // b's header is where a's is
  EXPECT_THROW(ZipReader(archive, "x"), Error);
}

TEST(Zip, BrokenArchivesNeverDoMoreThanThrow) {
  const std::string whole = sample();
  const auto read_all = [](const std::string& archive) {
    try {
      const ZipReader reader(archive, "x");
      for (const ZipReader::Entry& entry : reader.entries()) reader.read(entry);
    } catch (const Error&) {
    }
  };
  const std::size_t directory = whole.find("PK\x01\x02");
  for (std::size_t size = 0; size < whole.size(); size += size < 100 || size > directory ? 1 : 997) {
    EXPECT_THROW(ZipReader(whole.substr(0, size), "x"), Error) << size;
  }
  for (std::size_t at = 0; at < whole.size(); at += at < 100 || at > directory ? 1 : 997) {
    for (char bits : {'\x01', '\x80', '\xff'}) {
      std::string broken = whole;
      broken[at] = static_cast<char>(broken[at] ^ bits);
      read_all(broken);
    }
  }
}

}  // namespace
}  // namespace sardonyx::values
