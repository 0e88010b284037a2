#include "apps/cli/describe_value.h"

#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "apps/values/elements.h"

namespace sardonyx::cli {
namespace {

constexpr std::int64_t kShown = 8;

std::string element(const Tensor& tensor, std::int64_t i) {
  if (tensor.type() == ElementType::kString) {
    return nlohmann::json(tensor.data<std::string>()[i]).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  if (tensor.type() == ElementType::kInt64) return std::to_string(tensor.data<std::int64_t>()[i]);
  if (tensor.type() == ElementType::kUInt64) return std::to_string(tensor.data<std::uint64_t>()[i]);
  if (tensor.type() == ElementType::kBool) return tensor.data<bool>()[i] ? "true" : "false";
  if (!values::is_real(tensor.type())) return "?";
  return fmt::format("{:.6g}", values::get_element(tensor.view(), i));
}

std::string range(const Tensor& tensor) {
  const std::int64_t n = tensor.num_elements();
  if (n <= kShown || !values::is_real(tensor.type()) || tensor.type() == ElementType::kBool) return {};
  double lowest = INFINITY, highest = -INFINITY, sum = 0;
  std::int64_t numbers = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double value = values::get_element(tensor.view(), i);
    if (std::isnan(value)) continue;
    lowest = std::min(lowest, value);
    highest = std::max(highest, value);
    sum += value;
    ++numbers;
  }
  std::string text = numbers == 0 ? ""
                                  : fmt::format("  (min {:.6g}, mean {:.6g}, max {:.6g})", lowest,
                                                sum / static_cast<double>(numbers), highest);
  if (numbers != n) text += fmt::format("  {} NaN", n - numbers);
  return text;
}

}  // namespace

std::string describe_type(const Value& value) {
  if (value.is_tensor()) return std::string(name(value.tensor().type())) + value.tensor().shape().to_string();
  if (value.is_sequence()) return fmt::format("sequence of {}", value.sequence().items.size());
  if (value.is_map()) return fmt::format("map of {}", value.map().values.size());
  return "nothing";
}

std::string describe_content(const Value& value) {
  if (value.is_tensor()) {
    const Tensor& tensor = value.tensor();
    const std::int64_t n = tensor.num_elements();
    std::string text;
    for (std::int64_t i = 0; i < std::min(n, kShown); ++i) text += (i == 0 ? "" : " ") + element(tensor, i);
    return text + (n > kShown ? " ..." : "") + range(tensor);
  }
  std::string text;
  if (value.is_sequence()) {
    for (const Value& item : value.sequence().items)
      text += (text.empty() ? "" : "\n  ") + describe_type(item) + ": " + describe_content(item);
  }
  if (value.is_map()) {
    const Map& map = value.map();
    for (std::size_t i = 0; i < map.values.size(); ++i) {
      text += (text.empty() ? "" : "\n  ") + element(map.keys, static_cast<std::int64_t>(i)) + ": " +
              describe_content(map.values[i]);
    }
  }
  return text;
}

}  // namespace sardonyx::cli
