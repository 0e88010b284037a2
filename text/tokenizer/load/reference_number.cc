#include "text/tokenizer/load/reference_number.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>

namespace sardonyx::text {

namespace {

constexpr int kLargestPower = 308;

/// Powers of ten, each the double nearest to it.
const std::array<double, kLargestPower + 1>& powers() {
  static const std::array<double, kLargestPower + 1> kPowers = [] {
    std::array<double, kLargestPower + 1> table{};
    for (int i = 0; i <= kLargestPower; ++i) table[i] = std::strtod(("1e" + std::to_string(i)).c_str(), nullptr);
    return table;
  }();
  return kPowers;
}

double scaled(std::uint64_t digits, int exponent) {
  auto value = static_cast<double>(digits);
  for (; exponent < -kLargestPower && value != 0; exponent += kLargestPower) value /= 1e308;
  if (value == 0) return value;
  if (exponent > kLargestPower) return std::numeric_limits<double>::infinity();
  return exponent >= 0 ? value * powers()[exponent] : value / powers()[-exponent];
}

}  // namespace

double reference_number(std::string_view number) {
  const bool negative = number.starts_with('-');
  std::size_t at = negative ? 1 : 0;
  std::uint64_t digits = 0;
  int exponent = 0;
  bool full = false;     // digits that no longer fit are dropped
  bool fraction = false;
  for (; at < number.size(); ++at) {
    const char c = number[at];
    if (c == '.') {
      fraction = true;
      continue;
    }
    if (c < '0' || c > '9') break;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    full = full || digits > (std::numeric_limits<std::uint64_t>::max() - digit) / 10;
    if (full) {
      exponent += !fraction;
    } else {
      digits = digits * 10 + digit;
      exponent -= fraction;
    }
  }
  if (at < number.size() && (number[at] == 'e' || number[at] == 'E')) {
    ++at;
    const bool small = at < number.size() && number[at] == '-';
    if (at < number.size() && (number[at] == '-' || number[at] == '+')) ++at;
    int power = 0;
    for (; at < number.size() && number[at] >= '0' && number[at] <= '9'; ++at) power = std::min(power * 10 + number[at] - '0', 99999);
    exponent += small ? -power : power;
  }
  const double value = scaled(digits, exponent);
  return negative ? -value : value;
}

}  // namespace sardonyx::text
