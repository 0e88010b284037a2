#include <gtest/gtest.h>
#include <vector>

#include "provider/cpu/ops/op_case.h"

namespace sardonyx::provider::cpu {
namespace {

using E = ElementType;

Numbers scalar(E type, double value) { return {type, {}, {value}}; }

class Linalg : public testing::TestWithParam<OpCase> {};
TEST_P(Linalg, Gives) { check(GetParam()); }

const Numbers kA{E::kFloat32, {2, 3}, {1, 2, 3, 4, 5, 6}}, kB{E::kFloat32, {3, 2}, {1, 2, 3, 4, 5, 6}};

const OpCase kProducts[] = {
    {"MatMul", "MatMul", {kA, kB}, {{E::kFloat32, {2, 2}, {22, 28, 49, 64}}}},
    {"MatMulVectors", "MatMul", {row(E::kFloat32, {1, 2, 3}), row(E::kFloat32, {4, 5, 6})}, {scalar(E::kFloat32, 32)}},
    {"MatMulVectorMatrix", "MatMul", {row(E::kFloat32, {1, 2, 3}), kB}, {row(E::kFloat32, {22, 28})}},
    {"MatMulMatrixVector", "MatMul", {kA, row(E::kFloat32, {1, 1, 1})}, {row(E::kFloat32, {6, 15})}},
    {"MatMulStack",
     "MatMul",
     {{E::kFloat32, {2, 1, 2}, {1, 2, 3, 4}}, {E::kFloat32, {2, 2, 1}, {1, 1, 2, 2}}},
     {{E::kFloat32, {2, 1, 1}, {3, 14}}}},
    {"MatMulStacksBroadcast",
     "MatMul",
     {{E::kFloat32, {2, 1, 1, 1}, {2, 3}}, {E::kFloat32, {3, 1, 1}, {5, 7, 11}}},
     {{E::kFloat32, {2, 3, 1, 1}, {10, 14, 22, 15, 21, 33}}}},
    {"MatMulTallStack",
     "MatMul",
     {{E::kFloat32, {2, 1, 3}, {1, 2, 3, 4, 5, 6}}, kB},
     {{E::kFloat32, {2, 1, 2}, {22, 28, 49, 64}}}},
    {"MatMulNoInner",
     "MatMul",
     {{E::kFloat32, {2, 0}, {}}, {E::kFloat32, {0, 2}, {}}},
     {{E::kFloat32, {2, 2}, {0, 0, 0, 0}}}},
    {"MatMulNoRows", "MatMul", {{E::kFloat32, {0, 3}, {}}, kB}, {{E::kFloat32, {0, 2}, {}}}},
    {"MatMulInt64Wraps",
     "MatMul",
     {{E::kInt64, {1, 1}, {4611686018427387904.0}}, {E::kInt64, {1, 1}, {4}}},
     {{E::kInt64, {1, 1}, {0}}}},
    {"MatMulInner", "MatMul", {kA, kA}, {}, {}, "inner dimensions"},
    {"MatMulScalar", "MatMul", {scalar(E::kFloat32, 1), kA}, {}, {}, "rank 1 or more"},
    {"Gemm", "Gemm", {kA, kB}, {{E::kFloat32, {2, 2}, {22, 28, 49, 64}}}},
    {"GemmTransposed",
     "Gemm",
     {kB, kA},
     {{E::kFloat32, {2, 2}, {22, 49, 28, 64}}},
     attributes({{"transA", std::int64_t{1}}, {"transB", std::int64_t{1}}})},
    {"GemmRow", "Gemm", {kA, kB, row(E::kFloat32, {1, 2})}, {{E::kFloat32, {2, 2}, {23, 30, 50, 66}}}},
    {"GemmColumn", "Gemm", {kA, kB, {E::kFloat32, {2, 1}, {1, 2}}}, {{E::kFloat32, {2, 2}, {23, 29, 51, 66}}}},
    {"GemmMatrix",
     "Gemm",
     {kA, kB, {E::kFloat32, {2, 2}, {1, 2, 3, 4}}},
     {{E::kFloat32, {2, 2}, {12, 16, 27.5, 36}}},
     attributes({{"alpha", 0.5f}, {"beta", 1.0f}})},
    {"GemmScalar",
     "Gemm",
     {kA, kB, scalar(E::kFloat32, 3)},
     {{E::kFloat32, {2, 2}, {50, 62, 104, 134}}},
     attributes({{"alpha", 2.0f}, {"beta", 2.0f}})},
    {"GemmNoInner",
     "Gemm",
     {{E::kFloat32, {2, 0}, {}}, {E::kFloat32, {0, 2}, {}}, row(E::kFloat32, {1, 2})},
     {{E::kFloat32, {2, 2}, {1, 2, 1, 2}}}},
    {"GemmBiasTooLarge", "Gemm", {kA, kB, {E::kFloat32, {3, 1}, {1, 2, 3}}}, {}, {}, "broadcast"},
    {"GemmRank", "Gemm", {row(E::kFloat32, {1}), kB}, {}, {}, "must have rank 2"},
    {"Det", "Det", {{E::kFloat32, {2, 2, 2}, {1, 2, 3, 4, 0, 1, 1, 0}}}, {row(E::kFloat32, {-2, -1})}, {}, {}, 1e-6},
    {"DetOfNothing", "Det", {{E::kFloat64, {0, 0}, {}}}, {scalar(E::kFloat64, 1)}},
    {"DetNotSquare", "Det", {kA}, {}, {}, "sides of a matrix"},
    {"MatMulInteger",
     "MatMulInteger",
     {{E::kUInt8, {1, 2}, {11, 7}}, {E::kInt8, {2, 2}, {1, -1, 2, 3}}, scalar(E::kUInt8, 12), scalar(E::kInt8, 1)},
     {{E::kInt32, {1, 2}, {-5, -8}}}},
    {"MatMulIntegerLines",
     "MatMulInteger",
     {{E::kInt8, {2, 1}, {5, 6}}, {E::kUInt8, {1, 2}, {10, 20}}, row(E::kInt8, {1, 2}), row(E::kUInt8, {0, 10})},
     {{E::kInt32, {2, 2}, {40, 40, 40, 40}}}},
    {"MatMulIntegerFullRange",
     "MatMulInteger",
     {{E::kUInt8, {1, 4}, {255, 255, 255, 255}}, {E::kInt8, {4, 1}, {127, 127, 127, 127}}},
     {{E::kInt32, {1, 1}, {129540}}}},
    {"QLinearMatMul",
     "QLinearMatMul",
     {{E::kUInt8, {1, 2}, {10, 20}},
      scalar(E::kFloat32, 0.5),
      scalar(E::kUInt8, 0),
      {E::kInt8, {2, 1}, {3, 4}},
      scalar(E::kFloat32, 2),
      scalar(E::kInt8, 0),
      scalar(E::kFloat32, 4),
      scalar(E::kInt8, -1)},
     {{E::kInt8, {1, 1}, {27}}}},
    {"QLinearMatMulFloat8",
     "QLinearMatMul",
     {{E::kFloat8E4M3FN, {1, 2}, {1, 2}},
      scalar(E::kFloat32, 1),
      scalar(E::kFloat8E4M3FN, 0),
      {E::kFloat8E4M3FN, {2, 1}, {3, 0.5}},
      scalar(E::kFloat32, 1),
      scalar(E::kFloat8E4M3FN, 0),
      scalar(E::kFloat32, 2),
      scalar(E::kFloat8E4M3FN, 0)},
     {{E::kFloat8E4M3FN, {1, 1}, {2}}}},
};
INSTANTIATE_TEST_SUITE_P(Products, Linalg, testing::ValuesIn(kProducts), case_name);

OpCase einsum(std::string name, std::string equation, std::vector<Numbers> inputs, Numbers output,
              std::string error = {}) {
  std::vector<Numbers> outputs;
  if (error.empty()) outputs.push_back(std::move(output));
  return {
      std::move(name), "Einsum", std::move(inputs), std::move(outputs), attributes({{"equation", std::move(equation)}}),
      std::move(error)};
}

const OpCase kEinsum[] = {
    einsum("Product", "ij,jk->ik", {kA, kB}, {E::kFloat32, {2, 2}, {22, 28, 49, 64}}),
    einsum("ProductTransposed", "ij,jk->ki", {kA, kB}, {E::kFloat32, {2, 2}, {22, 49, 28, 64}}),
    einsum("Implicit", "ij,jk", {kA, kB}, {E::kFloat32, {2, 2}, {22, 28, 49, 64}}),
    einsum("Transpose", "ij->ji", {kA}, {E::kFloat32, {3, 2}, {1, 4, 2, 5, 3, 6}}),
    einsum("Sum", "ij->", {kA}, {E::kFloat32, {}, {21}}),
    einsum("SumOneSide", "ij,k->i", {kA, row(E::kFloat32, {1, 1})}, {E::kFloat32, {2}, {12, 30}}),
    einsum("Diagonal", "ii->i", {{E::kInt32, {2, 2}, {1, 2, 3, 4}}}, {E::kInt32, {2}, {1, 4}}),
    einsum("Trace", "ii", {{E::kInt64, {2, 2}, {1, 2, 3, 4}}}, {E::kInt64, {}, {5}}),
    einsum("Ellipsis", "...ij,...jk->...ik", {{E::kFloat32, {2, 1, 1}, {2, 3}}, {E::kFloat32, {1, 2}, {5, 7}}},
           {E::kFloat32, {2, 1, 2}, {10, 14, 15, 21}}),
    einsum("EllipsisStretches", "...,...->...", {{E::kFloat32, {2, 1}, {1, 2}}, row(E::kFloat32, {10, 20})},
           {E::kFloat32, {2, 2}, {10, 20, 20, 40}}),
    einsum("Batch", "bij,bjk->bik", {{E::kFloat16, {2, 1, 2}, {1, 2, 3, 4}}, {E::kFloat16, {2, 2, 1}, {1, 1, 2, 2}}},
           {E::kFloat16, {2, 1, 1}, {3, 14}}),
    einsum("Three", "i,i,i->i", {row(E::kFloat64, {1, 2}), row(E::kFloat64, {3, 4}), row(E::kFloat64, {5, 6})},
           {E::kFloat64, {2}, {15, 48}}),
    einsum("Outer", "i,j->ij", {row(E::kFloat32, {1, 2}), row(E::kFloat32, {3, 4})},
           {E::kFloat32, {2, 2}, {3, 4, 6, 8}}),
    einsum("SumOfNothing", "ij->i", {{E::kFloat32, {2, 0}, {}}}, {E::kFloat32, {2}, {0, 0}}),
    einsum("Spaces", " i j , j k -> i k ", {kA, kB}, {E::kFloat32, {2, 2}, {22, 28, 49, 64}}),
    einsum("WrongRank", "ijk->i", {kA}, {}, "does not fit an input of rank 2"),
    einsum("WrongInputs", "ij,jk->ik", {kA}, {}, "2 terms for 1 inputs"),
    einsum("UnknownOutput", "ij->ik", {kA}, {}, "a label that no input has"),
    einsum("OutputTwice", "ij->ii", {kA}, {}, "names a label twice"),
    einsum("Grammar", "i1->i", {kA}, {}, "found '1'"),
    einsum("SizesDiffer", "ij,ij->ij", {kA, kB}, {}, "can't be broadcast"),
};
INSTANTIATE_TEST_SUITE_P(Einsum, Linalg, testing::ValuesIn(kEinsum), case_name);

/// Every type, and sizes around the kernels' tiles, against the sums written out.
TEST(MatMulSizes, AgreeWithTheDefinition) {
  struct Size {
    std::int64_t m, n, k;
  };
  for (const E type : {E::kFloat32, E::kFloat64, E::kFloat16, E::kBFloat16, E::kInt32, E::kUInt64}) {
    for (const auto& [m, n, k] :
         {Size{1, 1, 1}, Size{1, 17, 33}, Size{13, 15, 16}, Size{14, 33, 7}, Size{5, 1, 65}, Size{30, 64, 31}}) {
      Numbers a{type, {m, k}, {}}, b{type, {k, n}, {}}, c{type, {m, n}, {}};
      for (std::int64_t i = 0; i < m * k; ++i) a.values.push_back(static_cast<double>(i % 3));
      for (std::int64_t i = 0; i < k * n; ++i) b.values.push_back(static_cast<double>(i % 2));
      for (std::int64_t i = 0; i < m; ++i) {
        for (std::int64_t j = 0; j < n; ++j) {
          double sum = 0;
          for (std::int64_t p = 0; p < k; ++p)
            sum += a.values[static_cast<std::size_t>(i * k + p)] * b.values[static_cast<std::size_t>(p * n + j)];
          c.values.push_back(sum);
        }
      }
      check({"", "MatMul", {a, b}, {c}});
      check({"", "Gemm", {a, b}, {c}});
    }
  }
}

}  // namespace
}  // namespace sardonyx::provider::cpu
