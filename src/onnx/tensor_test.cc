#include <complex>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "sardonyx/error.h"

#include "base/numeric/numeric.h"
#include "onnx/proto_builder.h"
#include "onnx/tensor_io.h"

namespace sardonyx::onnx {
namespace {

using namespace testing;  // NOLINT: the message builders
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Tensor read_tensor(std::string_view message) { return read_value(std::as_bytes(std::span(message))).tensor(); }

std::vector<int> bytes_of(const Tensor& tensor) {
  std::vector<int> bytes;
  for (std::size_t i = 0; i < tensor.num_bytes(); ++i) bytes.push_back(std::to_integer<int>(tensor.view().bytes()[i]));
  return bytes;
}

TEST(TensorDecode, TypedFieldsOfEveryElementType) {
  struct Case {
    ElementType type;
    std::int64_t count;
    std::uint32_t field;
    std::vector<std::int64_t> stored;
    std::vector<int> bytes;
  };
  const Case cases[] = {
      {ElementType::kUInt8, 2, 5, {1, 255}, {1, 255}},
      {ElementType::kInt8, 2, 5, {1, -2}, {1, 254}},
      {ElementType::kUInt16, 1, 5, {0xfffe}, {0xfe, 0xff}},
      {ElementType::kInt16, 1, 5, {-2}, {0xfe, 0xff}},
      {ElementType::kInt32, 1, 5, {-2}, {0xfe, 0xff, 0xff, 0xff}},
      {ElementType::kUInt32, 1, 11, {0xfffffffe}, {0xfe, 0xff, 0xff, 0xff}},
      {ElementType::kInt64, 1, 7, {-2}, {0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
      {ElementType::kUInt64, 1, 11, {-2}, {0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
      {ElementType::kBool, 3, 5, {0, 1, 5}, {0, 1, 1}},
      {ElementType::kFloat16, 1, 5, {0x3c00}, {0x00, 0x3c}},
      {ElementType::kBFloat16, 1, 5, {0x3f80}, {0x80, 0x3f}},
      {ElementType::kFloat8E4M3FN, 2, 5, {0x38, 0xb8}, {0x38, 0xb8}},
      {ElementType::kFloat8E4M3FNUZ, 1, 5, {0x38}, {0x38}},
      {ElementType::kFloat8E5M2, 1, 5, {0x38}, {0x38}},
      {ElementType::kFloat8E5M2FNUZ, 1, 5, {0x38}, {0x38}},
      {ElementType::kFloat8E8M0, 1, 5, {0x7f}, {0x7f}},
      {ElementType::kUInt4, 3, 5, {0x21, 0x03}, {0x21, 0x03}},
      {ElementType::kInt4, 3, 5, {0x2f, 0x08}, {0x2f, 0x08}},
      {ElementType::kFloat4E2M1, 2, 5, {0x21}, {0x21}},
      {ElementType::kUInt2, 5, 5, {0xe4, 0x01}, {0xe4, 0x01}},
      {ElementType::kInt2, 4, 5, {0xe4}, {0xe4}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(name(c.type));
    const Tensor tensor =
        read_tensor(tensor_header("t", static_cast<std::int64_t>(c.type), {c.count}).numbers(c.field, c.stored));
    EXPECT_EQ(tensor.type(), c.type);
    EXPECT_EQ(bytes_of(tensor), c.bytes);
    const std::string raw(c.bytes.begin(), c.bytes.end());
    const Tensor from_raw = read_tensor(tensor_header("t", static_cast<std::int64_t>(c.type), {c.count}).text(9, raw));
    EXPECT_TRUE(identical(tensor.view(), from_raw.view()));
  }
}

TEST(TensorDecode, FloatsComplexAndStrings) {
  EXPECT_THAT(read_tensor(tensor_header("t", 1, {2}).real(4, 1.5f).real(4, -2)).span<float>(), ElementsAre(1.5f, -2.f));
  const Tensor complex = read_tensor(tensor_header("t", 14, {1}).real(4, 1).real(4, 2));
  EXPECT_EQ(complex.data<std::complex<float>>()[0], std::complex<float>(1, 2));
  const double numbers[] = {3, 4};
  const std::string_view packed(reinterpret_cast<const char*>(numbers), sizeof numbers);
  EXPECT_THAT(read_tensor(tensor_header("t", 11, {2}).text(10, packed)).span<double>(), ElementsAre(3., 4.));
  EXPECT_EQ(read_tensor(tensor_header("t", 15, {}).text(10, packed)).data<std::complex<double>>()[0],
            std::complex<double>(3, 4));
  EXPECT_THAT(read_tensor(tensor_header("t", 8, {2}).text(6, "a").text(6, "")).span<std::string>(),
              ElementsAre("a", ""));
}

TEST(TensorDecode, EmptyTensorsAndScalars) {
  EXPECT_EQ(read_tensor(tensor_header("t", 1, {2, 0})).shape(), Shape({2, 0}));
  EXPECT_EQ(read_tensor(tensor_header("t", 1, {0, std::int64_t{1} << 60})).num_elements(), 0);
  EXPECT_EQ(read_tensor(tensor_header("t", 7, {}).number(7, 4)).shape().rank(), 0u);
  EXPECT_EQ(read_tensor(tensor_header("t", 8, {0})).num_elements(), 0);
}

TEST(TensorIo, ValuesComeBack) {
  using graph::ValueType;
  const ValueType tensor_type = ValueType::unranked(ElementType::kFloat32);
  const Tensor tensor = Tensor::from<float>({2}, std::vector<float>{1, 2});
  const Tensor strings = Tensor::from<std::string>({2}, std::vector<std::string>{"a", "bc"});
  Sequence sequence{ElementType::kFloat32, {tensor, tensor}};
  Map map{strings, {tensor, tensor}};
  const auto again = [](const Value& value, const ValueType& type) {
    const std::string bytes = write_value(value, "v", type);
    return read_value(std::as_bytes(std::span(bytes)), type);
  };
  EXPECT_TRUE(identical(again(tensor, tensor_type).tensor().view(), tensor.view()));
  EXPECT_TRUE(identical(again(strings, {}).tensor().view(), strings.view()));
  EXPECT_EQ(again(sequence, ValueType::sequence(tensor_type)).sequence().items.size(), 2u);
  EXPECT_EQ(again(Sequence{}, ValueType::sequence(tensor_type)).sequence().items.size(), 0u);
  const Value read_map = again(map, ValueType::map(ElementType::kString, tensor_type));
  EXPECT_TRUE(identical(read_map.map().keys.view(), strings.view()));
  EXPECT_EQ(read_map.map().values.size(), 2u);
  EXPECT_TRUE(again({}, ValueType::optional(tensor_type)).is_none());
  EXPECT_TRUE(again(tensor, ValueType::optional(tensor_type)).is_tensor());
  EXPECT_TRUE(again(sequence, ValueType::optional(ValueType::sequence(tensor_type))).is_sequence());
  EXPECT_THROW(write_value({}, "v", tensor_type), Error);
}

/// A folder with a model whose weight [4] is in a file beside it.
class ExternalData : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) / ("external." + std::to_string(getpid()));
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_ / "model" / "sub");
    const float values[] = {0, 1, 2, 3, 4, 5};
    for (const char* name : {"model/w.bin", "model/sub/w.bin", "outside.bin"}) {
      std::ofstream(folder_ / name, std::ios::binary).write(reinterpret_cast<const char*>(values), sizeof values);
    }
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  graph::Model load(const std::vector<std::pair<std::string, std::string>>& entries,
                    const char* file = "model/model.onnx") {
    Message tensor = tensor_header("w", 1, {4});
    for (const auto& [key, value] : entries) tensor.text(13, Message().text(1, key).text(2, value));
    const std::string bytes =
        model(graph({{node("Identity", {"w"}, {"y"})}, {tensor.number(14, 1)}, {}, {untyped("y")}}));
    std::ofstream(folder_ / "model/model.onnx", std::ios::binary) << bytes;
    return read_model(folder_ / file);
  }
  void expect_error(const std::vector<std::pair<std::string, std::string>>& entries, const char* says) {
    try {
      load(entries);
      ADD_FAILURE() << "the model loads where an error should say " << says;
    } catch (const Error& error) {
      EXPECT_THAT(error.message(), HasSubstr(says));
      EXPECT_THAT(error.what(), HasSubstr("tensor 'w'"));
    }
  }

  std::filesystem::path folder_;
};

TEST_F(ExternalData, IsMapped) {
  EXPECT_THAT(load({{"location", "w.bin"}, {"length", "16"}}).constants[0].span<float>(), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(load({{"location", "w.bin"}, {"offset", "8"}}).constants[0].span<float>(), ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(load({{"location", "./sub/w.bin"}}).constants[0].span<float>(), ElementsAre(0, 1, 2, 3));
}

TEST_F(ExternalData, StaysInsideTheModelsFolder) {
  expect_error({{"location", "../outside.bin"}}, "inside the model's folder");
  expect_error({{"location", "sub/../w.bin"}}, "inside the model's folder");
  expect_error({{"location", (folder_ / "model/w.bin").string()}}, "inside the model's folder");
  expect_error({{"location", ""}}, "inside the model's folder");
  expect_error({{"location", std::string("w.bin\0x", 7)}}, "inside the model's folder");
  std::filesystem::create_symlink(folder_ / "outside.bin", folder_ / "model/link.bin");
  expect_error({{"location", "link.bin"}}, "leads outside");
  std::filesystem::create_directory_symlink(folder_, folder_ / "model/up");
  expect_error({{"location", "up/outside.bin"}}, "leads outside");
  std::filesystem::create_symlink("sub/w.bin", folder_ / "model/inner.bin");
  EXPECT_NO_THROW(load({{"location", "inner.bin"}}));
}

TEST_F(ExternalData, ModelThatIsALinkHasItsDataInEitherFolder) {
  // As download caches lay files out: names in one folder lead to contents in another.
  load({{"location", "w.bin"}});
  std::filesystem::create_directories(folder_ / "cache");
  std::filesystem::create_symlink(folder_ / "model/model.onnx", folder_ / "cache/model.onnx");
  std::filesystem::create_symlink(folder_ / "model/w.bin", folder_ / "cache/w.bin");
  EXPECT_NO_THROW(read_model(folder_ / "cache/model.onnx"));
}

TEST_F(ExternalData, StaysInsideTheFile) {
  expect_error({{"location", "w.bin"}, {"offset", "12"}}, "the file has 24 bytes");
  expect_error({{"location", "w.bin"}, {"offset", "18446744073709551615"}}, "the file has 24 bytes");
  expect_error({{"location", "w.bin"}, {"offset", "-4"}}, "whole number");
  expect_error({{"location", "w.bin"}, {"offset", "4x"}}, "whole number");
  expect_error({{"location", "w.bin"}, {"length", "12"}}, "'length' is 12");
  expect_error({{"location", "missing.bin"}}, "missing.bin");
  expect_error({{"location", "sub"}}, "");
}

}  // namespace
}  // namespace sardonyx::onnx
