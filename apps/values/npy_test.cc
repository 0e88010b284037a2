#include "apps/values/npy.h"

#include <complex>
#include <cstring>
#include <gtest/gtest.h>

#include "sardonyx/error.h"

#include "apps/values/random_value.h"
#include "base/numeric/numeric.h"

namespace sardonyx::values {
namespace {

std::string npy(const std::string& header, const std::string& data, char version = 1) {
  std::string out = "\x93NUMPY";
  out += {version, '\0', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  if (version > 1) out += {'\0', '\0'};
  return out + header + data;
}

template <typename T>
std::string bytes_of(std::initializer_list<T> values) {
  return std::string(reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(T));
}

template <typename T>
std::vector<T> list(const Tensor& tensor) {
  return {tensor.span<T>().begin(), tensor.span<T>().end()};
}

TEST(Npy, EveryTypeSurvives) {
  for (int number = 1; number < kElementTypeCount; ++number) {
    const auto type = static_cast<ElementType>(number);
    const bool widened = bit_width(type) < 8 && type != ElementType::kString;
    const bool small_float = number >= 16 && number <= 20;
    if (widened || small_float || type == ElementType::kFloat8E8M0) continue;
    for (const Shape& shape : {Shape{}, Shape{0}, Shape{3}, Shape{2, 3, 1}}) {
      const Tensor tensor = random_tensor("x", type, shape, 1);
      EXPECT_TRUE(identical(parse_npy(format_npy(tensor), "x").view(), tensor.view()))
          << name(type) << shape.to_string();
    }
  }
}

TEST(Npy, TypesThatNumPyLacksAreWidened) {
  const BFloat16 value(1.5f);
  const Tensor read = parse_npy(format_npy(Tensor::from<BFloat16>({1}, std::span(&value, 1))), "x");
  ASSERT_EQ(read.type(), ElementType::kFloat32);
  EXPECT_EQ(read.data<float>()[0], 1.5f);
  std::uint8_t packed[] = {0xf1};
  const Tensor small = parse_npy(format_npy(Tensor(ElementType::kInt4, {2}, packed, nullptr)), "x");
  ASSERT_EQ(small.type(), ElementType::kInt8);
  EXPECT_EQ(list<std::int8_t>(small), (std::vector<std::int8_t>{1, -1}));
}

TEST(Npy, WhatNumPyWrites) {
  const std::string f4 = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }      \n";
  EXPECT_EQ(list<float>(parse_npy(npy(f4, bytes_of<float>({1, 2})), "x")), (std::vector<float>{1, 2}));
  const std::string big = "{'descr': '>i2', 'fortran_order': False, 'shape': (2,), }\n";
  EXPECT_EQ(list<std::int16_t>(parse_npy(npy(big, std::string("\x01\x02\xff\xfe", 4), 2), "x")),
            (std::vector<std::int16_t>{0x102, -2}));
  const std::string fortran = "{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3), }\n";
  EXPECT_EQ(list<std::int32_t>(parse_npy(npy(fortran, bytes_of<std::int32_t>({1, 4, 2, 5, 3, 6})), "x")),
            (std::vector<std::int32_t>{1, 2, 3, 4, 5, 6}));
  const std::string text = "{'descr': '<U2', 'fortran_order': False, 'shape': (3,), }\n";
  EXPECT_EQ(list<std::string>(parse_npy(npy(text, bytes_of<char32_t>({U'h', U'é', U'😀', 0, 0, 0})), "x")),
            (std::vector<std::string>{"hé", "😀", ""}));
  const std::string raw = "{'descr': '|S3', 'fortran_order': False, 'shape': (2,), }\n";
  EXPECT_EQ(list<std::string>(parse_npy(npy(raw, std::string("ab\0abc", 6)), "x")),
            (std::vector<std::string>{"ab", "abc"}));
  const std::string scalar = "{'descr': '|b1', 'fortran_order': False, 'shape': (), }\n";
  EXPECT_EQ(list<bool>(parse_npy(npy(scalar, std::string(1, '\x02')), "x")), std::vector<bool>{true});
}

struct Broken {
  const char* name;
  std::string content;
  const char* message;
};

TEST(Npy, BrokenFilesAreErrors) {
  const std::string ok = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";
  const std::string huge = "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }\n";
  const std::string big = "{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000,), }\n";
  const std::string texts = "{'descr': '<U1', 'fortran_order': False, 'shape': (1000000000000,), }\n";
  const std::string empty_texts = "{'descr': '<U0', 'fortran_order': False, 'shape': (1000000000000,), }\n";
  const Broken cases[] = {
      {"empty", "", "doesn't begin"},
      {"other file", "PK\x03\x04 and so on", "doesn't begin"},
      {"header beyond the end", npy(ok, "").substr(0, 30), "claims"},
      {"data too short", npy(ok, bytes_of<float>({1})), "takes 8 bytes"},
      {"data too long", npy(ok, bytes_of<float>({1, 2, 3})), "takes 8 bytes"},
      {"size overflow", npy(huge, ""), ""},
      {"data missing", npy(big, ""), "takes 4000000000 bytes"},
      {"strings missing", npy(texts, "abcd"), ""},
      {"endless empty strings", npy(empty_texts, ""), "more than is believed"},
      {"negative", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }\n", ""), "no number"},
      {"objects", npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }\n", "x"), "pickled"},
      {"records", npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }\n", "x"), "records"},
      {"missing key", npy("{'descr': '<f4', 'shape': (1,), }\n", "x"), "missing"},
      {"open list", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,", "x"), "no number"},
      {"no character",
       npy("{'descr': '<U1', 'fortran_order': False, 'shape': (1,), }\n", bytes_of<std::uint32_t>({0xd800})),
       "no Unicode character"},
  };
  for (const Broken& test : cases) {
    try {
      parse_npy(test.content, "file.npy");
      ADD_FAILURE() << test.name << ": no error";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(test.message), std::string::npos) << test.name << ": " << error.what();
    }
  }
}

TEST(Npy, EveryTruncationIsAnError) {
  const std::string whole = format_npy(random_tensor("x", ElementType::kInt64, {5}, 1));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(parse_npy(std::string_view(whole).substr(0, size), "x"), Error) << size;
  }
}

}  // namespace
}  // namespace sardonyx::values
