#include "text/tokenizer/load/reference_number.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <limits>

namespace sardonyx::text {
namespace {

TEST(ReferenceNumber, ReadsPlainNumbersExactly) {
  for (const char* text : {"0", "-1", "3.25", "-10.5", "1e3", "2.5E-2", "-0.0", "123456789", "7.13877301489048"}) {
    EXPECT_EQ(reference_number(text), std::strtod(text, nullptr)) << text;
  }
}

TEST(ReferenceNumber, ScalesLongOnesInDoublePrecision) {
  // Seventeen digits do not fit a double, so the digits are rounded before they are divided.
  EXPECT_EQ(reference_number("-2.6972379173520054"), -(26972379173520054.0 / 1e16));
}

TEST(ReferenceNumber, RefusesWhatIsNoNumber) {
  for (const char* text : {"", "-", "01", "1.", ".5", "1e", "1e+", "+1", "1x", "true", "1 2", "--1", "Infinity"}) {
    EXPECT_EQ(reference_number(text), std::nullopt) << text;
  }
}

TEST(ReferenceNumber, HasBounds) {
  EXPECT_EQ(reference_number("1e999"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(reference_number("1e-999"), 0.0);
  EXPECT_EQ(reference_number("123456789012345678901234567890"), 12345678901234567890.0 * 1e10);
}

}  // namespace
}  // namespace sardonyx::text
