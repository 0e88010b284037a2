#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <vector>

#include "sardonyx/error.h"

#include "provider/cpu/cpu_provider.h"
#include "provider/cpu/ops/op_case.h"
#include "provider/evaluate.h"

namespace sardonyx::provider::cpu {
namespace {

using E = ElementType;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

OpCase cast(std::string name, Numbers from, Numbers to,
            std::vector<std::pair<std::string, graph::Attribute>> more = {}) {
  more.emplace_back("to", static_cast<std::int64_t>(to.type));
  return {std::move(name), "Cast", {std::move(from)}, {std::move(to)}, attributes(std::move(more))};
}

class Cast : public testing::TestWithParam<OpCase> {};
TEST_P(Cast, Gives) { check(GetParam()); }

const OpCase kCases[] = {
    cast("FloatToInt32", row(E::kFloat32, {1.9, -1.9, kNaN, kInf, -kInf, 3e9}),
         row(E::kInt32, {1, -1, 0, 2147483647, -2147483648.0, 2147483647})),
    cast("FloatToUint8KeepsLowBits", row(E::kFloat32, {255.5, 256, -1, kNaN}), row(E::kUInt8, {255, 0, 255, 0})),
    cast("DoubleToInt64Saturates", row(E::kFloat64, {1e30, -1e30, 0.5}),
         row(E::kInt64, {9223372036854775807.0, -9223372036854775808.0, 0})),
    cast("Int32ToInt8KeepsLowBits", row(E::kInt32, {200, -129}), row(E::kInt8, {-56, 127})),
    cast("FloatToBool", row(E::kFloat32, {0, -0.0, 0.1, kNaN}), row(E::kBool, {0, 0, 1, 1})),
    cast("BoolToFloat16", row(E::kBool, {0, 1}), row(E::kFloat16, {0, 1})),
    cast("FloatToFloat16Overflows", row(E::kFloat32, {65504, 65536, 1e-8}), row(E::kFloat16, {65504, kInf, 0})),
    cast("DoubleToFloat16RoundsOnce", row(E::kFloat64, {1.00048828125 + 1e-12}), row(E::kFloat16, {1.0009765625})),
    cast("Float16ToBFloat16", row(E::kFloat16, {1.0078125, 65504}), row(E::kBFloat16, {1.0078125, 65536})),
    cast("Float8Saturates", row(E::kFloat32, {1000, -kInf, kNaN}), row(E::kFloat8E4M3FN, {448, -448, kNaN})),
    cast("Float8DoesNotSaturate", row(E::kFloat32, {1e6, -kInf}), row(E::kFloat8E5M2, {kInf, -kInf}),
         {{"saturate", std::int64_t{0}}}),
    cast("Int64ToFloat8", row(E::kInt64, {3, -1000}), row(E::kFloat8E4M3FNUZ, {3, -240})),
    cast("E8M0RoundsUp", row(E::kFloat32, {1.1, 2, 0}), row(E::kFloat8E8M0, {2, 2, 0x1p-127})),
    cast("E8M0RoundsDown", row(E::kFloat32, {1.9, 3.9}), row(E::kFloat8E8M0, {1, 2}),
         {{"round_mode", std::string("down")}}),
    cast("FloatToInt4KeepsLowBits", row(E::kFloat32, {-9, 7, 8}), row(E::kInt4, {7, 7, -8})),
    cast("Int4ToFloat", row(E::kInt4, {-8, 7, -1}), row(E::kFloat32, {-8, 7, -1})),
    cast("Uint2ToInt64", row(E::kUInt2, {0, 1, 2, 3, 3}), row(E::kInt64, {0, 1, 2, 3, 3})),
    cast("FloatToFloat4", row(E::kFloat32, {0.25, 5, 100, -0.3}), row(E::kFloat4E2M1, {0, 4, 6, -0.5})),
    cast("Uint64ToDouble", row(E::kUInt64, {9007199254740992.0}), row(E::kFloat64, {9007199254740992.0})),
    cast("Nothing", row(E::kFloat32, {}), row(E::kInt64, {})),
    {"NotAType",
     "Cast",
     {row(E::kFloat32, {1})},
     {},
     attributes({{"to", std::int64_t{99}}}),
     "to=99 is not an element type"},
    {"BitCast",
     "BitCast",
     {row(E::kFloat32, {1})},
     {row(E::kInt32, {1065353216})},
     attributes({{"to", static_cast<std::int64_t>(E::kInt32)}})},
    {"BitCastWidths",
     "BitCast",
     {row(E::kFloat32, {1})},
     {},
     attributes({{"to", static_cast<std::int64_t>(E::kInt64)}}),
     "types of one width"},
    {"CastLike", "CastLike", {row(E::kFloat32, {2.5}), row(E::kInt8, {0})}, {row(E::kInt8, {2})}},
};
INSTANTIATE_TEST_SUITE_P(Cases, Cast, testing::ValuesIn(kCases), case_name);

/// 0, 1 and 2 (where the type has it) survive every pair of types.
TEST(CastPairs, SmallNumbersSurvive) {
  const E types[] = {E::kFloat32,        E::kFloat64,    E::kFloat16,      E::kBFloat16,       E::kInt8,
                     E::kInt16,          E::kInt32,      E::kInt64,        E::kUInt8,          E::kUInt16,
                     E::kUInt32,         E::kUInt64,     E::kFloat8E4M3FN, E::kFloat8E4M3FNUZ, E::kFloat8E5M2,
                     E::kFloat8E5M2FNUZ, E::kFloat8E8M0, E::kFloat4E2M1,   E::kInt4,           E::kUInt4,
                     E::kUInt2,          E::kInt2,       E::kBool};
  for (const E from : types) {
    for (const E to : types) {
      std::vector<double> values(19, 1.0);
      if (from != E::kFloat8E8M0 && to != E::kFloat8E8M0) values[3] = values[18] = 0.0;
      check(cast("pair", row(from, values), row(to, values)));
    }
  }
}

std::vector<std::string> cast_to_text(const Tensor& tensor) {
  const CpuProvider cpu;
  const Value inputs[] = {tensor};
  const auto outputs =
      evaluate_node(cpu, "", "Cast", attributes({{"to", static_cast<std::int64_t>(E::kString)}}), inputs, 1);
  const auto text = outputs[0].tensor().span<std::string>();
  return {text.begin(), text.end()};
}

TEST(CastStrings, NumbersBecomeTheirShortestText) {
  EXPECT_EQ(cast_to_text(to_tensor(row(E::kFloat32, {0.1, 1, -2.5, kNaN, -kInf}))),
            (std::vector<std::string>{"0.1", "1.0", "-2.5", "NaN", "-INF"}));
  EXPECT_EQ(cast_to_text(to_tensor(row(E::kInt64, {-7, 0}))), (std::vector<std::string>{"-7", "0"}));
  EXPECT_EQ(cast_to_text(to_tensor(row(E::kBool, {0, 1}))), (std::vector<std::string>{"False", "True"}));
}

struct TextCase {
  std::string text;
  E type;
  double value;
  bool fails = false;
};

TEST(CastStrings, TextBecomesNumbers) {
  const TextCase cases[] = {{"3.14", E::kFloat64, 3.14},
                            {" 1e-5 ", E::kFloat64, 1e-5},
                            {"+INF", E::kFloat32, kInf},
                            {"-inf", E::kFloat16, -kInf},
                            {"1000", E::kInt32, 1000},
                            {"100.5", E::kInt64, 100},
                            {"-8", E::kInt8, -8},
                            {"1E400", E::kFloat64, kInf},
                            {"True", E::kBool, 1},
                            {"0", E::kBool, 0},
                            {"Hello", E::kFloat32, 0, true},
                            {"", E::kInt64, 0, true},
                            {"99999999999999999999", E::kInt64, 0, true},
                            {"1.5x", E::kFloat32, 0, true}};
  const CpuProvider cpu;
  for (const TextCase& test : cases) {
    const Value inputs[] = {Tensor::from<std::string>({1}, std::vector<std::string>{test.text})};
    const auto run = [&] {
      return evaluate_node(cpu, "", "Cast", attributes({{"to", static_cast<std::int64_t>(test.type)}}), inputs, 1);
    };
    if (test.fails)
      EXPECT_THROW(run(), Error) << test.text;
    else
      EXPECT_EQ(to_doubles(run()[0].tensor().view())[0], test.value) << test.text;
  }
}

}  // namespace
}  // namespace sardonyx::provider::cpu
