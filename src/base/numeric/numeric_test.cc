#include "base/numeric/numeric.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace sardonyx {
namespace {

// Expected values come from arithmetic that shares nothing with the code under test: a format's values are listed by ldexp,
// and rounding is a search for the nearest of two neighbours in long double.
struct Spec {
  const char* name;
  int exponent_bits, mantissa_bits, bias;
  int finite_codes;  // codes 0 .. finite_codes - 1 are finite and not negative
  bool infinity, nan_by_sign_bit, nan_by_rest;
};

constexpr Spec kHalf{"half", 5, 10, 15, 0x7c00, true, false, true};
constexpr Spec kBf16{"bfloat16", 8, 7, 127, 0x7f80, true, false, true};
constexpr Spec kE4M3FN{"e4m3fn", 4, 3, 7, 0x7f, false, false, true};
constexpr Spec kE4M3FNUZ{"e4m3fnuz", 4, 3, 8, 0x80, false, true, false};
constexpr Spec kE5M2{"e5m2", 5, 2, 15, 0x7c, true, false, true};
constexpr Spec kE5M2FNUZ{"e5m2fnuz", 5, 2, 16, 0x80, false, true, false};
constexpr Spec kE2M1{"e2m1", 2, 1, 1, 8, false, false, false};

double positive_value(const Spec& s, int code) {
  const int field = code >> s.mantissa_bits;
  const int mantissa = code & ((1 << s.mantissa_bits) - 1);
  if (field == 0) return std::ldexp(mantissa, 1 - s.bias - s.mantissa_bits);
  return std::ldexp((1 << s.mantissa_bits) + mantissa, field - s.bias - s.mantissa_bits);
}

int sign_bit(const Spec& s) { return 1 << (s.exponent_bits + s.mantissa_bits); }

double expected_value(const Spec& s, int code) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  if (s.nan_by_sign_bit && code == sign_bit(s)) return nan;
  const int magnitude = code & (sign_bit(s) - 1);
  const double sign = (code & sign_bit(s)) != 0 ? -1.0 : 1.0;
  if (magnitude < s.finite_codes) return std::copysign(positive_value(s, magnitude), sign);
  if (s.infinity && magnitude == s.finite_codes) return sign * std::numeric_limits<double>::infinity();
  return nan;
}

// The code that `value` (not NaN) must get: the nearest, at a tie the even one; above the largest, what would be the next
// code were the format to go on decides.
int expected_code(const Spec& s, double value, bool saturate) {
  const bool negative = std::signbit(value);
  const long double x = std::fabs(static_cast<long double>(value));
  const int last = s.finite_codes - 1;
  int code = 0;
  const long double step = static_cast<long double>(positive_value(s, last)) - positive_value(s, last - 1);
  const long double limit = positive_value(s, last) + step / 2;
  const bool overflow = x > limit || (x == limit && (last & 1) != 0);
  if (overflow) {
    if (saturate || s.exponent_bits == 2) {
      code = last;
    } else if (s.infinity) {
      code = s.finite_codes;
    } else {
      return s.nan_by_sign_bit ? sign_bit(s) : (sign_bit(s) - 1) | (negative ? sign_bit(s) : 0);
    }
  } else {
    int low = 0;
    int high = last;
    while (low < high) {  // the largest code whose value is at most x
      const int middle = (low + high + 1) / 2;
      if (positive_value(s, middle) <= x) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    code = low;
    if (low < last) {
      const long double below = x - positive_value(s, low);
      const long double above = positive_value(s, low + 1) - x;
      if (above < below || (above == below && (low & 1) != 0)) code = low + 1;
    }
  }
  if (code == 0 && s.nan_by_sign_bit) return 0;
  return code | (negative ? sign_bit(s) : 0);
}

std::vector<double> interesting_values(const Spec& s) {
  std::vector<double> values = {0.0, 5e-324, 1e-310, 1e-300, 1e300, std::numeric_limits<double>::infinity()};
  for (int code = 0; code <= s.finite_codes; ++code) {
    const double value = positive_value(s, code);
    const double middle = code < s.finite_codes ? (value + positive_value(s, code + 1)) / 2 : value * 1.5;
    for (double base : {value, middle}) {
      values.push_back(base);
      values.push_back(std::nextafter(base, 0.0));
      values.push_back(std::nextafter(base, 1e308));
      values.push_back(base * (1 + 1e-8));  // lost in a float: finds a double rounding
      values.push_back(base * (1 - 1e-8));
    }
  }
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    values.push_back(std::ldexp(static_cast<double>(random() >> 11), static_cast<int>(random() % 80) - 90));
  }
  const std::size_t count = values.size();
  for (std::size_t i = 0; i < count; ++i) values.push_back(-values[i]);
  return values;
}

template <typename T>
void check_format(const Spec& s, bool (*is_same)(T, int)) {
  for (int code = 0; code < 2 * sign_bit(s); ++code) {
    const T stored = T::from_bits(static_cast<decltype(T::bits)>(code));
    const double want = expected_value(s, code);
    const float got = static_cast<float>(stored);
    if (std::isnan(want)) {
      ASSERT_TRUE(std::isnan(got)) << s.name << " code " << code;
      continue;
    }
    ASSERT_EQ(got, want) << s.name << " code " << code;
    ASSERT_EQ(std::signbit(got), std::signbit(want)) << s.name << " code " << code;
  }
  for (double value : interesting_values(s)) {
    const float single = static_cast<float>(value);
    for (bool saturate : {false, true}) {
      ASSERT_TRUE(is_same(T::from_float(single, saturate), expected_code(s, single, saturate)))
          << s.name << " from float " << single << " saturate " << saturate << " got " << +T::from_float(single, saturate).bits;
    }
    const bool constructor_saturates = s.exponent_bits + s.mantissa_bits < 15;
    ASSERT_TRUE(is_same(T(single), expected_code(s, single, constructor_saturates))) << s.name << " from float " << single;
    ASSERT_TRUE(is_same(T(value), expected_code(s, value, constructor_saturates))) << s.name << " from double " << value;
  }
}

template <typename T>
bool bits_equal(T value, int code) {
  return value.bits == code;
}

TEST(Numeric, EveryCodeAndRoundingOfHalf) { check_format<Half>(kHalf, bits_equal); }
TEST(Numeric, EveryCodeAndRoundingOfBFloat16) { check_format<BFloat16>(kBf16, bits_equal); }
TEST(Numeric, EveryCodeAndRoundingOfFloat8E4M3FN) { check_format<Float8E4M3FN>(kE4M3FN, bits_equal); }
TEST(Numeric, EveryCodeAndRoundingOfFloat8E4M3FNUZ) { check_format<Float8E4M3FNUZ>(kE4M3FNUZ, bits_equal); }
TEST(Numeric, EveryCodeAndRoundingOfFloat8E5M2) { check_format<Float8E5M2>(kE5M2, bits_equal); }
TEST(Numeric, EveryCodeAndRoundingOfFloat8E5M2FNUZ) { check_format<Float8E5M2FNUZ>(kE5M2FNUZ, bits_equal); }
TEST(Numeric, EveryCodeAndRoundingOfFloat4E2M1) { check_format<Float4E2M1>(kE2M1, bits_equal); }

TEST(Numeric, NanStaysNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (bool saturate : {false, true}) {
    EXPECT_TRUE(std::isnan(static_cast<float>(Half::from_float(nan, saturate))));
    EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16::from_float(nan, saturate))));
    EXPECT_EQ(Float8E4M3FN::from_float(nan, saturate).bits, 0x7f);
    EXPECT_EQ(Float8E4M3FN::from_float(-nan, saturate).bits, 0xff);
    EXPECT_EQ(Float8E4M3FNUZ::from_float(nan, saturate).bits, 0x80);
    EXPECT_EQ(Float8E5M2::from_float(nan, saturate).bits, 0x7e);
    EXPECT_EQ(Float8E5M2FNUZ::from_float(-nan, saturate).bits, 0x80);
    EXPECT_EQ(Float8E8M0::from_float(nan, saturate).bits, 0xff);
    EXPECT_EQ(static_cast<float>(Float4E2M1::from_float(nan, saturate)), 6.0f);
  }
  // A signalling NaN whose payload lies in the dropped bits must not become an infinity.
  const float signalling = std::bit_cast<float>(0x7f800001u);
  EXPECT_TRUE(std::isnan(static_cast<float>(Half(signalling))));
  EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(signalling))));
}

TEST(Numeric, IntegersRoundOnce) {
  EXPECT_EQ(static_cast<float>(Half(2049)), 2048.0f);
  EXPECT_EQ(static_cast<float>(Half(2051)), 2052.0f);
  EXPECT_TRUE(std::isinf(static_cast<float>(Half(65520))));
  EXPECT_EQ(static_cast<float>(Half(-65519)), -65504.0f);
  // 2^62 + 2^54 is a tie between neighbours in bfloat16; one more is above it, though a double cannot tell them apart.
  const std::int64_t tie = (std::int64_t{1} << 62) + (std::int64_t{1} << 54);
  EXPECT_EQ(static_cast<float>(BFloat16(tie)), 0x1p62f);
  EXPECT_EQ(static_cast<float>(BFloat16(tie + 1)), 0x1p62f + 0x1p55f);
  EXPECT_EQ(static_cast<float>(BFloat16(std::numeric_limits<std::int64_t>::min())), -0x1p63f);
  EXPECT_EQ(static_cast<float>(BFloat16(std::numeric_limits<std::uint64_t>::max())), 0x1p64f);
  EXPECT_EQ(static_cast<float>(BFloat16(true)), 1.0f);
}

TEST(Numeric, Float8E8M0HasEveryPowerOfTwo) {
  for (int code = 0; code < 255; ++code) {
    const float value = static_cast<float>(Float8E8M0::from_bits(static_cast<std::uint8_t>(code)));
    EXPECT_EQ(value, std::ldexp(1.0, code - 127)) << code;
    for (E8M0Rounding rounding : {E8M0Rounding::kUp, E8M0Rounding::kDown, E8M0Rounding::kNearest}) {
      EXPECT_EQ(Float8E8M0::from_float(value, true, rounding).bits, code);
      EXPECT_EQ(Float8E8M0::from_float(value, false, rounding).bits, code);
    }
  }
  EXPECT_TRUE(std::isnan(static_cast<float>(Float8E8M0::from_bits(0xff))));
}

struct E8M0Case {
  double value;
  bool saturate;
  E8M0Rounding rounding;
  int code;
};

TEST(Numeric, Float8E8M0Rounds) {
  using enum E8M0Rounding;
  const double infinity = std::numeric_limits<double>::infinity();
  const E8M0Case cases[] = {
      {0.0, true, kUp, 0},           {0.0, false, kNearest, 255},       {infinity, true, kUp, 254},
      {infinity, false, kUp, 255},   {0.124, true, kUp, 124},           {0.124, true, kDown, 123},
      {1.1, true, kUp, 128},         {1.1, true, kDown, 127},           {1.1, true, kNearest, 127},
      {1.5, true, kNearest, 128},    {1.4999999999, true, kNearest, 127}, {1.0 + 1e-12, true, kUp, 128},
      {0x1p-127, true, kUp, 0},      {0x1.8p-127, true, kNearest, 1},   {0x1.4p-127, true, kNearest, 0},
      {0x1p-140, true, kUp, 0},      {0x1p-140, false, kUp, 0},         {0x1p-140, true, kDown, 0},
      {0x1p-140, false, kDown, 255}, {0x1.9p-128, false, kNearest, 0},  {0x1.1p-128, false, kNearest, 255},
      {0x1.8p127, true, kUp, 254},   {0x1.8p127, false, kUp, 255},      {0x1.8p127, false, kDown, 254},
      {-8.0, true, kUp, 130},
  };
  for (const E8M0Case& c : cases) {
    EXPECT_EQ(Float8E8M0::from_double(c.value, c.saturate, c.rounding).bits, c.code)
        << c.value << " saturate " << c.saturate << " rounding " << static_cast<int>(c.rounding);
  }
}

template <typename T>
void check_packed(int low, int high) {
  constexpr std::size_t kCount = 37;
  std::vector<std::uint8_t> bytes(kCount, 0xa5);
  std::vector<int> values(kCount);
  std::mt19937 random(3);
  for (int round = 0; round < 4; ++round) {
    for (std::size_t i = 0; i < kCount; ++i) {
      values[i] = low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
      set_packed<T>(bytes.data(), i, static_cast<typename T::Value>(values[i]));
    }
    for (std::size_t i = 0; i < kCount; ++i) ASSERT_EQ(get_packed<T>(bytes.data(), i), values[i]) << i;
  }
  EXPECT_EQ(bytes[(kCount * T::kBits + 7) / 8], 0xa5) << "wrote beyond the end";
}

TEST(Packed, StoresAndReads) {
  check_packed<Int4>(-8, 7);
  check_packed<UInt4>(0, 15);
  check_packed<Int2>(-2, 1);
  check_packed<UInt2>(0, 3);
}

TEST(Packed, FirstElementLiesInTheLowBits) {
  const std::uint8_t byte = 0b11100100;
  EXPECT_EQ(get_packed<UInt2>(&byte, 0), 0);
  EXPECT_EQ(get_packed<UInt2>(&byte, 3), 3);
  EXPECT_EQ(get_packed<Int2>(&byte, 3), -1);
  EXPECT_EQ(get_packed<UInt4>(&byte, 1), 14);
  EXPECT_EQ(get_packed<Int4>(&byte, 1), -2);
  EXPECT_EQ(static_cast<float>(get_packed<PackedFloat4E2M1>(&byte, 0)), 2.0f);
}

}  // namespace
}  // namespace sardonyx
