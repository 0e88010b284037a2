#include "text/tokenizer/load/reference_number.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
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

/// The number that eight digits make, or nothing where one of the bytes is none: pairs of digits are added up, then
/// pairs of these, side by side in one register.
std::optional<std::uint64_t> eight_digits(const char* text) {
  std::uint64_t word = 0;
  std::memcpy(&word, text, 8);
  constexpr std::uint64_t kHigh = 0xF0F0F0F0F0F0F0F0, kZeros = 0x3030303030303030;
  if ((word & kHigh) != kZeros || ((word + 0x0606060606060606) & kHigh) != kZeros) return std::nullopt;
  word -= kZeros;
  word = (word * 10) + (word >> 8);
  const std::uint64_t fours = (word & 0x000000FF000000FF) * (100 + (std::uint64_t{1'000'000} << 32)) +
                              (word >> 16 & 0x000000FF000000FF) * (1 + (std::uint64_t{10'000} << 32));
  return fours >> 32;
}

/// Reads the digits and the exponent of a JSON number as the reference counts them.
class NumberReader {
 public:
  explicit NumberReader(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  std::optional<double> read() {
    const bool negative = take('-');
    const char* const first = at_;
    read_digits(0);
    if (at_ == first || (*first == '0' && at_ > first + 1)) return std::nullopt;
    if (take('.')) {
      const char* const fraction = at_;
      read_digits(1);
      if (at_ == fraction) return std::nullopt;
    }
    if ((take('e') || take('E')) && !read_exponent()) return std::nullopt;
    if (at_ != end_) return std::nullopt;
    const double value = scaled(digits_, exponent_);
    return negative ? -value : value;
  }

 private:
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

  bool take(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }

  /// Digits that no longer fit into 64 bits are dropped. `scale`: by how many powers of ten each makes the number
  /// smaller.
  void read_digits(int scale) {
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
    const char* const first = at_;
    while (end_ - at_ >= 8 && digits_ < kMost / 1'000'000'000) {
      const auto eight = eight_digits(at_);
      if (!eight) break;
      digits_ = digits_ * 100'000'000 + *eight;
      at_ += 8;
    }
    for (; at_ < end_ && is_digit(*at_) && digits_ < kMost / 10; ++at_) {
      digits_ = digits_ * 10 + static_cast<std::uint64_t>(*at_ - '0');
    }
    exponent_ -= scale * static_cast<int>(at_ - first);
    for (; at_ < end_ && is_digit(*at_); ++at_) {
      const auto digit = static_cast<std::uint64_t>(*at_ - '0');
      full_ = full_ || digits_ > (kMost - digit) / 10;
      if (full_) {
        exponent_ += 1 - scale;
      } else {
        digits_ = digits_ * 10 + digit;
        exponent_ -= scale;
      }
    }
  }

  bool read_exponent() {
    const bool small = take('-');
    if (!small) take('+');
    const char* const first = at_;
    int power = 0;
    for (; at_ < end_ && is_digit(*at_); ++at_) power = std::min(power * 10 + *at_ - '0', 99999);
    exponent_ += small ? -power : power;
    return at_ > first;
  }

  const char* at_;
  const char* end_;
  std::uint64_t digits_ = 0;
  int exponent_ = 0;
  bool full_ = false;
};

}  // namespace

std::optional<double> reference_number(std::string_view number) { return NumberReader(number).read(); }

}  // namespace sardonyx::text
