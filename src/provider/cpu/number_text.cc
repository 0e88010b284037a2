#include "provider/cpu/number_text.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "base/fail.h"

namespace sardonyx::provider::cpu {
namespace {

constexpr std::string_view kSpace = " \t\r\n\v\f";

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

bool equals_ignoring_case(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] - 'A' + 'a') : text[i];
    if (c != lower[i]) return false;
  }
  return true;
}

[[noreturn]] void not_a_number(std::string_view text, std::string_view wanted) {
  fail(ErrorCode::kInvalidArgument, "Cast from string: expected {}, found '{}'", wanted, text.substr(0, 100));
}

template <typename T>
T parse_integer(std::string_view original, std::string_view wanted) {
  std::string_view text = trim(original);
  if (equals_ignoring_case(text, "true")) return 1;
  if (equals_ignoring_case(text, "false")) return 0;
  if (!text.empty() && text[0] == '+') text.remove_prefix(1);
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end == text.data() + text.size()) return value;
  const double number = parse_double(original);
  if (!(number > static_cast<double>(std::numeric_limits<T>::min()) - 1) ||
      !(number < static_cast<double>(std::numeric_limits<T>::max()))) {
    not_a_number(original, wanted);
  }
  return static_cast<T>(number);
}

template <typename T>
std::string float_text(T value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "INF" : "-INF";
  char buffer[64];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  std::string text(buffer, result.ptr);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

double parse_double(std::string_view original) {
  std::string_view text = trim(original);
  bool negative = false;
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  double value = 0;
  if (equals_ignoring_case(text, "inf") || equals_ignoring_case(text, "infinity")) {
    value = std::numeric_limits<double>::infinity();
  } else if (equals_ignoring_case(text, "nan")) {
    value = std::numeric_limits<double>::quiet_NaN();
  } else {
    const bool starts_like_one = !text.empty() && (text[0] == '.' || (text[0] >= '0' && text[0] <= '9'));
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range) {
      const bool tiny = text.find("e-") != std::string_view::npos || text.find("E-") != std::string_view::npos;
      value = tiny ? 0 : std::numeric_limits<double>::infinity();
    } else if (error != std::errc{} || !starts_like_one || end != text.data() + text.size()) {
      not_a_number(original, "a number");
    }
  }
  return negative ? -value : value;
}

std::int64_t parse_int64(std::string_view text) {
  return parse_integer<std::int64_t>(text, "an integer of at most 64 bits");
}
std::uint64_t parse_uint64(std::string_view text) {
  return parse_integer<std::uint64_t>(text, "an integer from 0 to 18446744073709551615");
}

std::string number_text(float value) { return float_text(value); }
std::string number_text(double value) { return float_text(value); }
std::string number_text(std::int64_t value) { return std::to_string(value); }
std::string number_text(std::uint64_t value) { return std::to_string(value); }

}  // namespace sardonyx::provider::cpu
