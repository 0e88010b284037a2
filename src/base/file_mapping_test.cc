#include "base/file_mapping.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "sardonyx/error.h"

namespace sardonyx {
namespace {

class Files : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = testing::TempDir() + "/files_" + testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(directory_), {}));
  }
  std::string directory_;
};

template <typename Call>
Error error_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "expected an Error";
  return Error(ErrorCode::kInternal, "none");
}

TEST_F(Files, WriteMapReadDrop) {
  const std::string path = directory_ + "/data";
  std::string content(300'000, 'x');
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * 31 >> 3);
  write_file(path, content);
  FileMapping mapping(path);
  EXPECT_EQ(mapping.text(), content);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(mapping.data()) % 64, 0u);
  mapping.drop_pages(100, 200'000);
  mapping.drop_pages(0, SIZE_MAX);
  mapping.drop_pages(content.size(), 10);
  mapping.read_ahead(5, 100'000);
  EXPECT_EQ(mapping.text(), content);
  EXPECT_EQ(read_file(path), content);
  const FileMapping moved(std::move(mapping));
  EXPECT_EQ(moved.text(), content);
  EXPECT_EQ(moved.identity(), identify_file(path));
  EXPECT_EQ(moved.identity().size, content.size());
}

TEST_F(Files, ReplacingKeepsTheOldMapping) {
  const std::string path = directory_ + "/data";
  write_file(path, std::string_view("old"));
  const FileMapping old(path);
  write_file(path, std::string_view("newer"));
  EXPECT_EQ(old.text(), "old");
  EXPECT_EQ(read_file(path), "newer");
  EXPECT_NE(old.identity(), identify_file(path));
  EXPECT_EQ(entries(), 1u) << "a temporary file was left behind";
}

TEST_F(Files, EmptyFile) {
  const std::string path = directory_ + "/empty";
  write_file(path, std::string_view());
  EXPECT_EQ(FileMapping(path).size(), 0u);
  EXPECT_EQ(read_file(path), "");
}

TEST_F(Files, ErrorsNameThePath) {
  const std::string missing = directory_ + "/missing";
  for (const Error& error : {error_of([&] { FileMapping m(missing); }), error_of([&] { read_file(missing); }),
                             error_of([&] { identify_file(missing); })}) {
    EXPECT_EQ(error.code(), ErrorCode::kNotFound);
    EXPECT_NE(error.message().find(missing), std::string::npos);
  }
  EXPECT_EQ(error_of([&] { FileMapping m(directory_); }).code(), ErrorCode::kIo);
  EXPECT_EQ(error_of([&] { FileMapping m("/dev/null"); }).code(), ErrorCode::kIo);
  EXPECT_EQ(error_of([&] { write_file(directory_ + "/no/file", std::string_view("x")); }).code(), ErrorCode::kNotFound);
}

TEST_F(Files, ReadFileHasALimit) {
  const std::string path = directory_ + "/data";
  write_file(path, std::string(1000, 'a'));
  EXPECT_EQ(read_file(path, 1000).size(), 1000u);
  EXPECT_EQ(error_of([&] { read_file(path, 999); }).code(), ErrorCode::kResourceExhausted);
  EXPECT_EQ(error_of([&] { read_file("/dev/zero", 5000); }).code(), ErrorCode::kResourceExhausted);
}

TEST_F(Files, FailedReplaceLeavesNothingBehind) {
  std::filesystem::create_directories(directory_ + "/target/inside");
  EXPECT_EQ(error_of([&] { write_file(directory_ + "/target", std::string_view("x")); }).code(), ErrorCode::kIo);
  EXPECT_EQ(entries(), 1u);
}

TEST_F(Files, WritersAtOnceDoNotMix) {
  const std::string path = directory_ + "/data";
  const auto write_many = [&](char letter) {
    for (int i = 0; i < 20; ++i) write_file(path, std::string(5000, letter));
  };
  std::thread first(write_many, 'a');
  std::thread second(write_many, 'b');
  first.join();
  second.join();
  const std::string content = read_file(path);
  EXPECT_EQ(content, std::string(5000, content[0]));
  EXPECT_EQ(entries(), 1u);
}

}  // namespace
}  // namespace sardonyx
