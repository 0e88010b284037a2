#include "text/tokenizer/load/sentence_piece.h"

#include <cstddef>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

#include "sardonyx/error.h"

namespace sardonyx::text {
namespace {

/// A page of memory with none behind it: who reads beyond a text at its end dies.
class LastPage {
 public:
  LastPage() {
    memory_ = static_cast<char*>(mmap(nullptr, 2 * size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(memory_ + size_, size_, PROT_NONE);
  }
  ~LastPage() { munmap(memory_, 2 * size_); }
  LastPage(const LastPage&) = delete;
  LastPage& operator=(const LastPage&) = delete;

  std::string_view at_its_end(std::string_view bytes) {
    char* const begin = memory_ + size_ - bytes.size();
    std::memcpy(begin, bytes.data(), bytes.size());
    return {begin, bytes.size()};
  }

 private:
  const std::size_t size_ = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  char* memory_ = nullptr;
};

/// A model with pieces of every kind and every field that is read.
std::string small_model() {
  std::string bytes;
  protozero::pbf_writer file(bytes);
  int type = 2;  // unknown, control, user-defined, unused, byte, normal
  for (const char* text : {"<unk>", "<s>", "<sep>", "old", "<0x41>",
                           "\xE2\x96\x81"
                           "ab",
                           "a", "b"}) {
    protozero::pbf_writer piece(file, 1);
    piece.add_string(1, text);
    piece.add_float(2, -1.5f);
    piece.add_enum(3, type <= 6 ? type++ : 1);
  }
  {
    protozero::pbf_writer trainer(file, 2);
    trainer.add_enum(3, 1);
    trainer.add_bool(35, true);
  }
  protozero::pbf_writer normalizer(file, 3);
  for (const protozero::pbf_tag_type tag : {3, 4, 5}) normalizer.add_bool(tag, true);
  return bytes;
}

TEST(SentencePiece, IsReadToItsLastByteAndNoFurther) {
  const std::string model = small_model();
  LastPage page;
  EXPECT_EQ(parse_sentence_piece(page.at_its_end(model)).model->vocab_size(), 8u);
  for (std::size_t size = 0; size < model.size(); ++size) {
    const std::string_view cut = page.at_its_end(std::string_view(model).substr(0, size));
    try {
      parse_sentence_piece(cut);  // where a whole number of fields is left
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidModel) << size;
    }
  }
}

TEST(SentencePiece, AFieldMayLackItsValue) {
  LastPage page;
  for (const char tag : {'\x18', '\x20', '\x28'}) {  // the normalizer's booleans
    std::string bytes = small_model();
    protozero::pbf_writer(bytes).add_message(3, &tag, 1);
    EXPECT_THROW(parse_sentence_piece(page.at_its_end(bytes)), Error);
  }
}

TEST(SentencePiece, BooleansMayTakeSeveralBytes) {
  const auto with_prefix = [](std::string_view value) {
    std::string normalizer = "\x18" + std::string(value);  // field 3, a varint: add_dummy_prefix
    std::string bytes = small_model();
    protozero::pbf_writer(bytes).add_message(3, normalizer);
    const TokenizerParts parts = parse_sentence_piece(bytes);
    PreTokenized text{AlignedText("ab", 0), {{0, 2}}};
    parts.pre_tokenizer->pre_tokenize(text);
    return std::string(text.text.text());
  };
  EXPECT_EQ(with_prefix("\x81\x01"),
            "\xE2\x96\x81"
            "ab");
  EXPECT_EQ(with_prefix(std::string_view("\x80\x00", 2)), "ab");
}

}  // namespace
}  // namespace sardonyx::text
