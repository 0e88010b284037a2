#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "provider/cpu/dispatch.h"
#include "provider/cpu/ops/op_case.h"

namespace sardonyx::provider::cpu {
namespace {

using E = ElementType;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

Numbers row(std::vector<double> values, E type = E::kFloat32) {
  const auto count = static_cast<std::int64_t>(values.size());
  return {type, {count}, std::move(values)};
}
Numbers scalar(double value, E type = E::kFloat32) { return {type, {}, {value}}; }
const Numbers kLeftOut{E::kUndefined, {}, {}};

class Elementwise : public testing::TestWithParam<OpCase> {};
TEST_P(Elementwise, Gives) { check(GetParam()); }

// Unary functions: values at which the answer is known, and NaN and infinity.
const OpCase kUnary[] = {
    {"Relu", "Relu", {row({-1, 0, 2, kNaN, -kInf, kInf})}, {row({0, 0, 2, kNaN, 0, kInf})}},
    {"ReluNothing", "Relu", {row({})}, {row({})}},
    {"ReluInt8", "Relu", {row({-128, 0, 127}, E::kInt8)}, {row({0, 0, 127}, E::kInt8)}},
    {"AbsInt32Wraps", "Abs", {row({-2147483648.0, -1, 5}, E::kInt32)}, {row({-2147483648.0, 1, 5}, E::kInt32)}},
    {"AbsUint8", "Abs", {row({0, 255}, E::kUInt8)}, {row({0, 255}, E::kUInt8)}},
    {"NegInt64", "Neg", {row({-3, 0, 4}, E::kInt64)}, {row({3, 0, -4}, E::kInt64)}},
    {"SignFloat", "Sign", {row({-3, 0, 4, kNaN, -kInf})}, {row({-1, 0, 1, kNaN, -1})}},
    {"SignUint16", "Sign", {row({0, 65535}, E::kUInt16)}, {row({0, 1}, E::kUInt16)}},
    {"RoundHalvesToEven",
     "Round",
     {row({0.5, 1.5, 2.5, -0.5, -1.5, 2.4, kInf, kNaN})},
     {row({0, 2, 2, -0.0, -2, 2, kInf, kNaN})}},
    {"FloorCeil", "Floor", {row({-1.5, 1.5, -kInf})}, {row({-2, 1, -kInf})}},
    {"Ceil", "Ceil", {row({-1.5, 1.5, kNaN})}, {row({-1, 2, kNaN})}},
    {"Sqrt", "Sqrt", {row({0, 4, -1, kInf})}, {row({0, 2, kNaN, kInf})}},
    {"Reciprocal", "Reciprocal", {row({2, 0, -kInf})}, {row({0.5, kInf, -0.0})}},
    {"Exp", "Exp", {row({0, 1, -kInf, kInf, kNaN})}, {row({1, 2.718281828, 0, kInf, kNaN})}, {}, {}, 1e-6},
    {"Log", "Log", {row({1, 0, -1, kInf})}, {row({0, -kInf, kNaN, kInf})}, {}, {}, 1e-6},
    {"Sigmoid", "Sigmoid", {row({0, kInf, -kInf, -200, kNaN})}, {row({0.5, 1, 0, 0, kNaN})}, {}, {}, 1e-6},
    {"Tanh", "Tanh", {row({0, 1, kInf, -kInf})}, {row({0, 0.761594156, 1, -1})}, {}, {}, 1e-6},
    {"Erf", "Erf", {row({0, 1, -kInf})}, {row({0, 0.842700793, -1})}, {}, {}, 1e-6},
    {"SoftplusLarge", "Softplus", {row({0, 100, -100, kInf})}, {row({0.693147181, 100, 0, kInf})}, {}, {}, 1e-6},
    {"Softsign", "Softsign", {row({-1, 0, 3})}, {row({-0.5, 0, 0.75})}, {}, {}, 1e-6},
    {"HardSigmoid", "HardSigmoid", {row({-3, 0, 1, 5})}, {row({0, 0.5, 0.7, 1})}, {}, {}, 1e-6},
    {"HardSigmoidAttributes",
     "HardSigmoid",
     {row({1})},
     {row({0.75})},
     attributes({{"alpha", 0.5f}, {"beta", 0.25f}}),
     {},
     1e-6},
    {"HardSwish", "HardSwish", {row({-3, 0, 3, 6})}, {row({0, 0, 3, 6})}, {}, {}, 1e-6},
    {"Elu", "Elu", {row({-1, 2})}, {row({-1.264241118, 2})}, attributes({{"alpha", 2.0f}}), {}, 1e-6},
    {"Selu", "Selu", {row({-1, 1})}, {row({-1.111330746, 1.050700987})}, {}, {}, 1e-6},
    {"Celu", "Celu", {row({-2, 3})}, {row({-1.264241118, 3})}, attributes({{"alpha", 2.0f}}), {}, 1e-6},
    {"Mish", "Mish", {row({0, 1})}, {row({0, 0.865098388})}, {}, {}, 1e-6},
    {"Swish", "Swish", {row({0, 1})}, {row({0, 0.880797078})}, attributes({{"alpha", 2.0f}}), {}, 1e-6},
    {"Gelu", "Gelu", {row({-1, 0, 1})}, {row({-0.158655254, 0, 0.841344746})}, {}, {}, 1e-6},
    {"GeluTanh",
     "Gelu",
     {row({-1, 1})},
     {row({-0.158808009, 0.841191991})},
     attributes({{"approximate", std::string("tanh")}}),
     {},
     1e-6},
    {"GeluUnknown",
     "Gelu",
     {row({1})},
     {},
     attributes({{"approximate", std::string("fast")}}),
     "none or tanh, found 'fast'"},
    {"LeakyRelu", "LeakyRelu", {row({-2, 2})}, {row({-0.5, 2})}, attributes({{"alpha", 0.25f}})},
    {"ThresholdedRelu",
     "ThresholdedRelu",
     {row({1, 2, 3, kNaN})},
     {row({0, 0, 3, kNaN})},
     attributes({{"alpha", 2.0f}})},
    {"Shrink", "Shrink", {row({-2, 0, 2})}, {row({-1.5, 0, 1.5})}, attributes({{"lambd", 1.0f}, {"bias", 0.5f}})},
    {"ShrinkUint8Saturates",
     "Shrink",
     {row({0, 1, 2}, E::kUInt8)},
     {row({0, 0, 0}, E::kUInt8)},
     attributes({{"lambd", 0.5f}, {"bias", 5.0f}})},
    {"SinDouble", "Sin", {row({0, 1.5707963267948966}, E::kFloat64)}, {row({0, 1}, E::kFloat64)}, {}, {}, 1e-14},
    {"TanhHalf", "Tanh", {row({0, 1}, E::kFloat16)}, {row({0, 0.76171875}, E::kFloat16)}},
    {"ExpBFloat16", "Exp", {row({0, 1}, E::kBFloat16)}, {row({1, 2.71875}, E::kBFloat16)}},
    {"NoInteger", "Exp", {row({1}, E::kInt32)}, {}, {}, "int32"},
};
INSTANTIATE_TEST_SUITE_P(Unary, Elementwise, testing::ValuesIn(kUnary), case_name);

const OpCase kBinary[] = {
    {"AddRow",
     "Add",
     {{E::kFloat32, {2, 3}, {1, 2, 3, 4, 5, 6}}, row({10, 20, 30})},
     {{E::kFloat32, {2, 3}, {11, 22, 33, 14, 25, 36}}}},
    {"AddColumn",
     "Add",
     {{E::kFloat32, {2, 1}, {1, 2}}, {E::kFloat32, {1, 3}, {10, 20, 30}}},
     {{E::kFloat32, {2, 3}, {11, 21, 31, 12, 22, 32}}}},
    {"AddScalar", "Add", {scalar(1), row({1, 2})}, {row({2, 3})}},
    {"AddBothWays",
     "Add",
     {{E::kInt32, {2, 1, 2}, {1, 2, 3, 4}}, {E::kInt32, {2, 1}, {10, 20}}},
     {{E::kInt32, {2, 2, 2}, {11, 12, 21, 22, 13, 14, 23, 24}}}},
    {"AddEmpty", "Add", {{E::kFloat32, {0, 3}, {}}, row({1, 2, 3})}, {{E::kFloat32, {0, 3}, {}}}},
    {"AddWraps", "Add", {row({127}, E::kInt8), row({1}, E::kInt8)}, {row({-128}, E::kInt8)}},
    {"AddShapesDiffer", "Add", {row({1, 2}), row({1, 2, 3})}, {}, {}, "can't be broadcast"},
    {"MulUint16Wraps", "Mul", {row({65535}, E::kUInt16), row({65535}, E::kUInt16)}, {row({1}, E::kUInt16)}},
    {"SubHalf", "Sub", {row({1}, E::kFloat16), row({0.5}, E::kFloat16)}, {row({0.5}, E::kFloat16)}},
    {"DivTruncates", "Div", {row({-7, 7}, E::kInt32), row({2, -2}, E::kInt32)}, {row({-3, -3}, E::kInt32)}},
    {"DivOverflow", "Div", {row({-128}, E::kInt8), row({-1}, E::kInt8)}, {row({-128}, E::kInt8)}},
    {"DivByZero", "Div", {row({1}, E::kInt64), row({0}, E::kInt64)}, {}, {}, "divided by zero"},
    {"DivFloatByZero", "Div", {row({1, 0}), row({0, 0})}, {row({kInf, kNaN})}},
    {"ModSigns", "Mod", {row({-7, 7, -7}, E::kInt32), row({3, -3, -3}, E::kInt32)}, {row({2, -2, -1}, E::kInt32)}},
    {"FmodSigns",
     "Mod",
     {row({-7, 7}, E::kInt32), row({3, -3}, E::kInt32)},
     {row({-1, 1}, E::kInt32)},
     attributes({{"fmod", std::int64_t{1}}})},
    {"ModFloatNeedsFmod", "Mod", {row({1}), row({1})}, {}, {}, "needs fmod=1"},
    {"ModByZero", "Mod", {row({1}, E::kUInt8), row({0}, E::kUInt8)}, {}, {}, "divided by zero"},
    {"PowSquare", "Pow", {row({-3, 0.5}), scalar(2)}, {row({9, 0.25})}},
    {"PowIntegers", "Pow", {row({2, -2, 3}, E::kInt32), row({10, 3, 0}, E::kInt64)}, {row({1024, -8, 1}, E::kInt32)}},
    {"PowNegativeExponent",
     "Pow",
     {row({2, -1, 1}, E::kInt64), row({-1, -3, -5}, E::kInt64)},
     {row({0, -1, 1}, E::kInt64)}},
    {"PowZeroNegative", "Pow", {row({0}, E::kInt64), row({-1}, E::kInt64)}, {}, {}, "can't be raised"},
    {"PowFloatInteger", "Pow", {row({2, 3}), row({3, 2}, E::kInt64)}, {row({8, 9})}, {}, {}, 1e-6},
    {"PowOddHuge", "Pow", {row({-1}), row({9007199254740991.0}, E::kInt64)}, {row({-1})}},
    {"PowScalarBase", "Pow", {scalar(2), row({1, 2, 3})}, {row({2, 4, 8})}, {}, {}, 1e-6},
    {"PRelu",
     "PRelu",
     {{E::kFloat32, {2, 2}, {-1, 1, -2, 2}}, row({0.5, 0.25})},
     {{E::kFloat32, {2, 2}, {-0.5, 1, -1, 2}}}},
    {"PReluSlopeLarger", "PRelu", {row({-1}), row({1, 2})}, {}, {}, "does not broadcast to 1"},
    {"ShiftLeft",
     "BitShift",
     {row({1, 255}, E::kUInt8), row({7, 8}, E::kUInt8)},
     {row({128, 0}, E::kUInt8)},
     attributes({{"direction", std::string("LEFT")}})},
    {"ShiftRight",
     "BitShift",
     {row({128, 1}, E::kUInt32), row({7, 99}, E::kUInt32)},
     {row({1, 0}, E::kUInt32)},
     attributes({{"direction", std::string("RIGHT")}})},
    {"ShiftUp",
     "BitShift",
     {row({1}, E::kUInt8), row({1}, E::kUInt8)},
     {},
     attributes({{"direction", std::string("UP")}}),
     "LEFT or RIGHT"},
    {"MinNaN", "Min", {row({1, kNaN, 3}), row({2, 0, kNaN})}, {row({1, kNaN, kNaN})}},
    {"MaxOfThree",
     "Max",
     {row({1, 5}, E::kInt64), scalar(3, E::kInt64), {E::kInt64, {2, 1}, {0, 9}}},
     {{E::kInt64, {2, 2}, {3, 5, 9, 9}}}},
    {"MaxOfOne", "Max", {row({1, kNaN})}, {row({1, kNaN})}},
    {"MeanOfThree", "Mean", {row({1, 2}), row({3, 4}), row({5, 9})}, {row({3, 5})}},
    {"SumOfScalarsFirst", "Sum", {scalar(1), scalar(2), row({3, 4, kNaN})}, {row({6, 7, kNaN})}},
    {"SumHalf", "Sum", {row({1, 2}, E::kFloat16), row({3, 4}, E::kFloat16)}, {row({4, 6}, E::kFloat16)}},
};
INSTANTIATE_TEST_SUITE_P(Binary, Elementwise, testing::ValuesIn(kBinary), case_name);

const OpCase kSelection[] = {
    {"ClipBoth", "Clip", {row({-5, 0, 5, kNaN}), scalar(-1), scalar(1)}, {row({-1, 0, 1, kNaN})}},
    {"ClipMinAboveMax", "Clip", {row({-5, 5}), scalar(2), scalar(1)}, {row({1, 1})}},
    {"ClipMaxOnly", "Clip", {row({-5, 5}, E::kInt8), kLeftOut, scalar(1, E::kInt8)}, {row({-5, 1}, E::kInt8)}},
    {"ClipNone", "Clip", {row({-kInf, kInf})}, {row({-kInf, kInf})}},
    {"WhereRows",
     "Where",
     {{E::kBool, {2, 1}, {1, 0}}, row({1, 2}), row({3, 4})},
     {{E::kFloat32, {2, 2}, {1, 2, 3, 4}}}},
    {"WhereElements",
     "Where",
     {row({1, 0, 1}, E::kBool), row({1, 2, 3}, E::kInt64), scalar(9, E::kInt64)},
     {row({1, 9, 3}, E::kInt64)}},
    {"WhereScalars",
     "Where",
     {row({1, 0}, E::kBool), scalar(1, E::kFloat16), scalar(2, E::kFloat16)},
     {row({1, 2}, E::kFloat16)}},
    {"WhereNotBool", "Where", {row({1}), row({1}), row({1})}, {}, {}, "must be bool"},
    {"EqualNaN", "Equal", {row({1, kNaN}), row({1, kNaN})}, {row({1, 0}, E::kBool)}},
    {"LessBroadcast",
     "Less",
     {{E::kInt32, {2, 1}, {1, 3}}, row({2, 3}, E::kInt32)},
     {{E::kBool, {2, 2}, {1, 1, 0, 0}}}},
    {"GreaterOrEqualNaN", "GreaterOrEqual", {row({2, kNaN}), row({2, 1})}, {row({1, 0}, E::kBool)}},
    {"Xor", "Xor", {row({0, 0, 1, 1}, E::kBool), row({0, 1, 0, 1}, E::kBool)}, {row({0, 1, 1, 0}, E::kBool)}},
    {"Not", "Not", {row({0, 1}, E::kBool)}, {row({1, 0}, E::kBool)}},
    {"BitwiseAnd", "BitwiseAnd", {row({12, -1}, E::kInt16), row({10, 7}, E::kInt16)}, {row({8, 7}, E::kInt16)}},
    {"BitwiseNot", "BitwiseNot", {row({0, 5}, E::kUInt8)}, {row({255, 250}, E::kUInt8)}},
    {"IsNaN", "IsNaN", {row({1, kNaN, kInf})}, {row({0, 1, 0}, E::kBool)}},
    {"IsInfPositive",
     "IsInf",
     {row({kInf, -kInf, kNaN})},
     {row({1, 0, 0}, E::kBool)},
     attributes({{"detect_negative", std::int64_t{0}}})},
};
INSTANTIATE_TEST_SUITE_P(Selection, Elementwise, testing::ValuesIn(kSelection), case_name);

/// Around vector widths and chunks, with an operand that stands still on either side, every number type.
TEST(Broadcasting, AgreesWithIndexingAtEverySize) {
  for (const E type : {E::kFloat32, E::kFloat64, E::kFloat16, E::kInt8, E::kInt32, E::kInt64, E::kUInt8}) {
    for (const std::int64_t n : {1, 2, 15, 16, 17, 31, 33, 64}) {
      for (int still = 0; still < 3; ++still) {
        Numbers a{type, {3, n}, {}}, b{type, {3, n}, {}};
        if (still == 1) b.shape = {3, 1};
        if (still == 2) a.shape = {n};
        for (std::int64_t i = 0; i < a.shape.num_elements(); ++i) a.values.push_back(static_cast<double>(i % 7));
        for (std::int64_t i = 0; i < b.shape.num_elements(); ++i) b.values.push_back(static_cast<double>(i % 5));
        Numbers out{type, {3, n}, {}};
        for (std::int64_t r = 0; r < 3; ++r) {
          for (std::int64_t j = 0; j < n; ++j) {
            const auto x = static_cast<std::size_t>(still == 2 ? j : r * n + j),
                       y = static_cast<std::size_t>(still == 1 ? r : r * n + j);
            out.values.push_back(a.values[x] + b.values[y]);
          }
        }
        check({"", "Add", {a, b}, {out}});
      }
    }
  }
}

}  // namespace
}  // namespace sardonyx::provider::cpu
