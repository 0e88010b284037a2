#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "provider/cpu/ops/op_case.h"

namespace sardonyx::provider::cpu {
namespace {

using E = ElementType;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

Numbers axes(std::vector<double> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return {E::kInt64, {count}, std::move(values)};
}
graph::Attributes flag(const char* name, std::int64_t value) { return attributes({{name, value}}); }
const auto kDrop = flag("keepdims", 0);

class Reduce : public testing::TestWithParam<OpCase> {};
TEST_P(Reduce, Gives) { check(GetParam()); }

const Numbers kCube{E::kFloat32, {2, 2, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}};

const OpCase kReductions[] = {
    {"AllAxes", "ReduceSum", {kCube}, {{E::kFloat32, {1, 1, 1}, {78}}}},
    {"AllAxesDropped", "ReduceSum", {kCube}, {{E::kFloat32, {}, {78}}}, kDrop},
    {"Innermost", "ReduceSum", {kCube, axes({-1})}, {{E::kFloat32, {2, 2, 1}, {6, 15, 24, 33}}}},
    {"Middle", "ReduceSum", {kCube, axes({1})}, {{E::kFloat32, {2, 3}, {5, 7, 9, 17, 19, 21}}}, kDrop},
    {"Outermost", "ReduceMean", {kCube, axes({0})}, {{E::kFloat32, {2, 3}, {4, 5, 6, 7, 8, 9}}}, kDrop},
    {"FirstAndLast", "ReduceSum", {kCube, axes({0, 2})}, {{E::kFloat32, {2}, {30, 48}}}, kDrop},
    {"LastTwo", "ReduceMax", {kCube, axes({-2, -1})}, {{E::kFloat32, {2}, {6, 12}}}, kDrop},
    {"EmptyAxesReduceAll", "ReduceMin", {kCube, axes({})}, {{E::kFloat32, {1, 1, 1}, {1}}}},
    {"EmptyAxesNoop",
     "ReduceSumSquare",
     {{E::kFloat32, {3}, {1, 2, 3}}, axes({})},
     {{E::kFloat32, {3}, {1, 4, 9}}},
     flag("noop_with_empty_axes", 1)},
    {"Scalar", "ReduceL2", {{E::kFloat32, {}, {-3}}}, {{E::kFloat32, {}, {3}}}},
    {"SumOfNothing", "ReduceSum", {{E::kFloat32, {2, 0}, {}}, axes({1})}, {{E::kFloat32, {2}, {0, 0}}}, kDrop},
    {"ProdOfNothing", "ReduceProd", {{E::kInt32, {2, 0}, {}}, axes({1})}, {{E::kInt32, {2}, {1, 1}}}, kDrop},
    {"MaxOfNothing", "ReduceMax", {{E::kFloat32, {1, 0}, {}}, axes({1})}, {{E::kFloat32, {1}, {-kInf}}}, kDrop},
    {"MaxOfNoIntegers", "ReduceMax", {{E::kInt8, {1, 0}, {}}, axes({1})}, {{E::kInt8, {1}, {-128}}}, kDrop},
    {"LogSumExpOfNothing",
     "ReduceLogSumExp",
     {{E::kFloat32, {1, 0}, {}}, axes({1})},
     {{E::kFloat32, {1}, {-kInf}}},
     kDrop},
    {"NothingKept", "ReduceSum", {{E::kFloat32, {0, 3}, {}}, axes({1})}, {{E::kFloat32, {0}, {}}}, kDrop},
    {"NaNWins", "ReduceMax", {{E::kFloat32, {4}, {1, kNaN, kInf, 2}}}, {{E::kFloat32, {1}, {kNaN}}}},
    {"MinBool", "ReduceMin", {{E::kBool, {2, 2}, {1, 1, 1, 0}}, axes({1})}, {{E::kBool, {2}, {1, 0}}}, kDrop},
    {"MeanInt", "ReduceMean", {{E::kInt32, {3}, {-3, -2, -2}}}, {{E::kInt32, {1}, {-2}}}},
    {"MeanOfNoIntegers", "ReduceMean", {{E::kInt32, {0}, {}}}, {}, {}, "mean of no integers"},
    {"L1Int64", "ReduceL1", {{E::kInt64, {3}, {-3, 2, -2}}}, {{E::kInt64, {1}, {7}}}},
    {"L2Int32", "ReduceL2", {{E::kInt32, {2}, {3, -4}}}, {{E::kInt32, {1}, {5}}}},
    {"LogSum", "ReduceLogSum", {{E::kFloat64, {2}, {1, 1.718281828459045}}}, {{E::kFloat64, {1}, {1}}}, {}, {}, 1e-12},
    {"LogSumExpLarge",
     "ReduceLogSumExp",
     {{E::kFloat32, {2}, {1000, 1000}}},
     {{E::kFloat32, {1}, {1000.693147}}},
     {},
     {},
     1e-6},
    {"LogSumExpInfinite",
     "ReduceLogSumExp",
     {{E::kFloat32, {3, 2}, {-kInf, -kInf, kInf, 0, kNaN, 0}}, axes({1})},
     {{E::kFloat32, {3}, {-kInf, kInf, kNaN}}},
     kDrop},
    {"LogSumExpDoubleColumns",
     "ReduceLogSumExp",
     {{E::kFloat64, {2, 2}, {0, 1000, 0, 1000}}, axes({0})},
     {{E::kFloat64, {2}, {0.6931471805599453, 1000.6931471805599}}},
     kDrop,
     {},
     1e-12},
    {"HalfAccumulatesInFloat", "ReduceSum", {{E::kFloat16, {3}, {2048, 1, 1}}}, {{E::kFloat16, {1}, {2050}}}},
    {"AxisOutside", "ReduceSum", {kCube, axes({3})}, {}, {}, "axis 3 is outside"},
    {"AxisTwice", "ReduceSum", {kCube, axes({0, -3})}, {}, {}, "given twice"},
};
INSTANTIATE_TEST_SUITE_P(Reductions, Reduce, testing::ValuesIn(kReductions), case_name);

const OpCase kOthers[] = {
    {"ArgMaxFirst",
     "ArgMax",
     {{E::kFloat32, {2, 3}, {1, 3, 3, 2, 2, 1}}},
     {{E::kInt64, {2, 1}, {1, 0}}},
     flag("axis", 1)},
    {"ArgMaxLast",
     "ArgMax",
     {{E::kFloat32, {2, 3}, {1, 3, 3, 2, 2, 1}}},
     {{E::kInt64, {2}, {2, 1}}},
     attributes({{"axis", std::int64_t{-1}}, {"keepdims", std::int64_t{0}}, {"select_last_index", std::int64_t{1}}})},
    {"ArgMinColumns", "ArgMin", {{E::kInt8, {2, 3}, {1, -3, 3, -2, 2, 3}}}, {{E::kInt64, {1, 3}, {1, 0, 0}}}},
    {"ArgMaxNaN", "ArgMax", {{E::kFloat32, {4}, {1, kNaN, 9, kNaN}}}, {{E::kInt64, {1}, {1}}}},
    {"ArgMaxEmpty", "ArgMax", {{E::kFloat32, {0}, {}}}, {}, {}, "is empty"},
    {"CumSum",
     "CumSum",
     {{E::kFloat32, {2, 3}, {1, 2, 3, 4, 5, 6}}, {E::kInt32, {}, {1}}},
     {{E::kFloat32, {2, 3}, {1, 3, 6, 4, 9, 15}}}},
    {"CumSumReverseExclusive",
     "CumSum",
     {{E::kInt64, {3}, {1, 2, 3}}, {E::kInt64, {}, {-1}}},
     {{E::kInt64, {3}, {5, 3, 0}}},
     attributes({{"exclusive", std::int64_t{1}}, {"reverse", std::int64_t{1}}})},
    {"CumSumRows",
     "CumSum",
     {{E::kFloat32, {2, 2}, {1, 2, 3, 4}}, {E::kInt64, {}, {0}}},
     {{E::kFloat32, {2, 2}, {1, 2, 4, 6}}}},
    {"CumProdExclusive",
     "CumProd",
     {{E::kFloat32, {3}, {2, 3, 4}}, {E::kInt64, {}, {0}}},
     {{E::kFloat32, {3}, {1, 2, 6}}},
     flag("exclusive", 1)},
    {"CumSumNothing", "CumSum", {{E::kFloat32, {0, 2}, {}}, {E::kInt64, {}, {0}}}, {{E::kFloat32, {0, 2}, {}}}},
    {"CumSumAxis", "CumSum", {{E::kFloat32, {2}, {1, 2}}, {E::kInt64, {}, {1}}}, {}, {}, "axis 1 is outside"},
    {"TopK",
     "TopK",
     {{E::kFloat32, {2, 4}, {1, 4, 2, 4, 9, 7, 8, 9}}, {E::kInt64, {1}, {3}}},
     {{E::kFloat32, {2, 3}, {4, 4, 2, 9, 9, 8}}, {E::kInt64, {2, 3}, {1, 3, 2, 0, 3, 2}}}},
    {"TopKSmallestColumns",
     "TopK",
     {{E::kInt32, {3, 2}, {5, 1, 4, 2, 6, 0}}, {E::kInt64, {1}, {2}}},
     {{E::kInt32, {2, 2}, {4, 0, 5, 1}}, {E::kInt64, {2, 2}, {1, 2, 0, 0}}},
     attributes({{"axis", std::int64_t{0}}, {"largest", std::int64_t{0}}})},
    {"TopKNaNFirst",
     "TopK",
     {{E::kFloat32, {4}, {1, kNaN, kInf, 2}}, {E::kInt64, {1}, {2}}},
     {{E::kFloat32, {2}, {kNaN, kInf}}, {E::kInt64, {2}, {1, 2}}}},
    {"TopKNone",
     "TopK",
     {{E::kFloat32, {2}, {1, 2}}, {E::kInt64, {1}, {0}}},
     {{E::kFloat32, {0}, {}}, {E::kInt64, {0}, {}}}},
    {"TopKAll",
     "TopK",
     {{E::kFloat16, {3}, {1, 3, 2}}, {E::kInt64, {1}, {3}}},
     {{E::kFloat16, {3}, {3, 2, 1}}, {E::kInt64, {3}, {1, 2, 0}}}},
    {"TopKTooMany", "TopK", {{E::kFloat32, {2}, {1, 2}}, {E::kInt64, {1}, {3}}}, {}, {}, "one is 3 and the other 2"},
};
INSTANTIATE_TEST_SUITE_P(Others, Reduce, testing::ValuesIn(kOthers), case_name);

/// Sums of every layout and size around vectors, blocks of lanes and column blocks, in every type that is exact for
/// them.
TEST(ReduceSizes, SumOfOnesIsTheirNumber) {
  for (const E type : {E::kFloat32, E::kFloat64, E::kFloat16, E::kInt32, E::kUInt64}) {
    for (const std::int64_t n : {1, 15, 16, 17, 255, 257, 1030}) {
      check({"",
             "ReduceSum",
             {{type, {2, n}, std::vector<double>(static_cast<std::size_t>(2 * n), 1)}, axes({1})},
             {{type, {2}, std::vector<double>(2, static_cast<double>(n))}},
             kDrop});
      check({"",
             "ReduceSum",
             {{type, {3, n}, std::vector<double>(static_cast<std::size_t>(3 * n), 1)}, axes({0})},
             {{type, {n}, std::vector<double>(static_cast<std::size_t>(n), 3)}},
             kDrop});
      check({"",
             "ReduceSum",
             {{type, {2, n, 2, 3}, std::vector<double>(static_cast<std::size_t>(12 * n), 1)}, axes({0, 2})},
             {{type, {n, 3}, std::vector<double>(static_cast<std::size_t>(3 * n), 4)}},
             kDrop});
    }
  }
}

}  // namespace
}  // namespace sardonyx::provider::cpu
