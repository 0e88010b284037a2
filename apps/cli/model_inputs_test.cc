#include "apps/cli/model_inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sardonyx/error.h"

namespace sardonyx::cli {
namespace {

PortInfo port(std::string name, std::vector<std::string> dims, ElementType type = ElementType::kInt64) {
  PortInfo info;
  info.name = std::move(name);
  info.element_type = type;
  info.has_rank = true;
  for (const std::string& dim : dims)
    info.fixed.push_back(std::isdigit(static_cast<unsigned char>(dim[0])) ? std::stoll(dim) : -1);
  info.dims = std::move(dims);
  return info;
}

TEST(ParseShape, Shapes) {
  EXPECT_EQ(parse_shape("1x30"), (Shape{1, 30}));
  EXPECT_EQ(parse_shape("7"), (Shape{7}));
  EXPECT_EQ(parse_shape("0x3"), (Shape{0, 3}));
  EXPECT_EQ(parse_shape(""), Shape{});
  EXPECT_EQ(parse_shape("scalar"), Shape{});
  for (const char* text : {"1x", "x1", "1xx2", "-1", "1.5", "a", "1x 2", "99999999999999999999"}) {
    EXPECT_THROW(parse_shape(text), Error) << text;
  }
}

TEST(GatherInputs, SymbolsAgreeBetweenInputs) {
  const std::vector<PortInfo> ports = {port("input_ids", {"batch", "sequence"}),
                                       port("attention_mask", {"batch", "sequence"}),
                                       port("x", {"batch", "3", "other"}, ElementType::kFloat32)};
  const NamedValues values = gather_inputs({.files = {}, .shapes = {"input_ids:2x30"}}, ports);
  ASSERT_EQ(values.size(), 3u);
  EXPECT_EQ(values[0].second.tensor().shape(), (Shape{2, 30}));
  EXPECT_EQ(values[1].second.tensor().shape(), (Shape{2, 30}));
  EXPECT_EQ(values[2].second.tensor().shape(), (Shape{2, 3, 1}));
  for (const std::int64_t value : values[1].second.tensor().span<std::int64_t>()) EXPECT_EQ(value, 1);
}

TEST(GatherInputs, Faults) {
  const std::vector<PortInfo> two = {port("a", {"n"}), port("b", {"n"})};
  EXPECT_THROW(gather_inputs({.files = {}, .shapes = {"c:1"}}, two), Error);
  EXPECT_THROW(gather_inputs({.files = {}, .shapes = {"3"}}, two), Error);
  std::vector<PortInfo> unknown = {port("a", {})};
  unknown[0].has_rank = false;
  EXPECT_THROW(gather_inputs({}, unknown), Error);
  EXPECT_EQ(gather_inputs({.files = {}, .shapes = {"3"}}, unknown).size(), 1u);
  std::vector<PortInfo> sequence = {port("a", {"n"})};
  sequence[0].kind = "sequence";
  EXPECT_THROW(gather_inputs({}, sequence), Error);
}

TEST(GatherInputs, WhatMayBeLeftOut) {
  std::vector<PortInfo> ports = {port("a", {"n"}), port("b", {"n"})};
  ports[1].has_default = true;
  EXPECT_EQ(gather_inputs({}, ports).size(), 1u);
  EXPECT_EQ(gather_inputs({.files = {}, .shapes = {"b:4"}}, ports).size(), 2u);
}

TEST(SplitNamedFile, OnlyPortsAreNames) {
  const std::vector<PortInfo> ports = {port("x", {"n"}), port("a=b", {"n"})};
  EXPECT_EQ(split_named_file("x=f.npy", ports), (std::pair<std::string, std::string>{"x", "f.npy"}));
  EXPECT_EQ(split_named_file("y=f.npy", ports), (std::pair<std::string, std::string>{"", "y=f.npy"}));
  EXPECT_EQ(split_named_file("a=b=f=g.npy", ports), (std::pair<std::string, std::string>{"a=b", "f=g.npy"}));
  EXPECT_EQ(split_named_file("f.npy", ports), (std::pair<std::string, std::string>{"", "f.npy"}));
}

}  // namespace
}  // namespace sardonyx::cli
