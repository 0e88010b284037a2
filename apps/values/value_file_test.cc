#include "apps/values/value_file.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

#include "apps/values/compare.h"
#include "apps/values/random_value.h"
#include "base/file_mapping.h"

namespace sardonyx::values {
namespace {

class ValueFile : public testing::Test {
 protected:
  ValueFile() : folder_(std::filesystem::temp_directory_path() / ("value_file_test." + std::to_string(getpid()))) {
    std::filesystem::create_directory(folder_);
  }
  ~ValueFile() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

PortInfo port(std::string name, ElementType type) {
  PortInfo info;
  info.name = std::move(name);
  info.element_type = type;
  return info;
}

const std::vector<PortInfo> kPorts = {port("a", ElementType::kFloat32), port("b/c", ElementType::kInt4)};

TEST_F(ValueFile, ManyValues) {
  const NamedValues values = {{"b/c", random_tensor("x", ElementType::kInt4, {3}, 1)},
                              {"a", random_tensor("a", ElementType::kFloat32, {2, 2}, 1)}};
  for (const char* name : {"v.npz", "v.json"}) {
    write_values(folder_ / name, values);
    const NamedValues read = read_values(folder_ / name, "", kPorts, {});
    ASSERT_EQ(read.size(), 2u);
    for (const auto& [key, value] : read) {
      EXPECT_EQ(difference(key == "a" ? values[1].second : values[0].second, value, {0, 0}), "") << name << " " << key;
    }
    EXPECT_THROW(read_values(folder_ / name, "", std::span(kPorts).first(1), {}), Error);
    EXPECT_THROW(read_values(folder_ / name, "a", kPorts, {}), Error);
  }
  EXPECT_THROW(write_values(folder_ / "v.npy", values), Error);
}

TEST_F(ValueFile, OneValueGoesToTheNextPort) {
  const NamedValues values = {{"y", random_tensor("x", ElementType::kInt4, {3}, 1)}};
  write_values(folder_ / "v.npy", values);
  EXPECT_EQ(read_values(folder_ / "v.npy", "", kPorts, {}).at(0).first, "a");
  const NamedValues second = read_values(folder_ / "v.npy", "", kPorts, {{"a", {}}});
  EXPECT_EQ(second.at(0).first, "b/c");
  EXPECT_EQ(difference(values[0].second, second.at(0).second, {0, 0}), "");
  EXPECT_EQ(read_values(folder_ / "v.npy", "b/c", kPorts, {}).at(0).first, "b/c");
  EXPECT_THROW(read_values(folder_ / "v.npy", "", kPorts, {{"a", {}}, {"b/c", {}}}), Error);
  EXPECT_THROW(read_values(folder_ / "v.npy", "d", kPorts, {}), Error);
}

TEST_F(ValueFile, Faults) {
  EXPECT_THROW(format_of("x.txt"), Error);
  EXPECT_THROW(read_values(folder_ / "none.npz", "", kPorts, {}), Error);
  write_file((folder_ / "list.json").string(), std::string_view("[1]"));
  EXPECT_THROW(read_values(folder_ / "list.json", "", kPorts, {}), Error);
}

}  // namespace
}  // namespace sardonyx::values
