#include <cmath>
#include <gtest/gtest.h>

#include "provider/cpu/ops/op_case.h"

namespace sardonyx::provider::cpu {
namespace {

using E = ElementType;
constexpr const char* kDomain = "com.microsoft";

Numbers scalar(E type, double value) { return {type, {}, {value}}; }
const Numbers kLeftOut{E::kUndefined, {}, {}};
const Numbers kA{E::kFloat32, {2, 3}, {1, 2, 3, 4, 5, 6}}, kB{E::kFloat32, {3, 2}, {1, 2, 3, 4, 5, 6}};
const Numbers kScale = scalar(E::kFloat32, 0.5);

class MicrosoftMath : public testing::TestWithParam<OpCase> {};
TEST_P(MicrosoftMath, Gives) { check(GetParam()); }

double gelu_tanh(double x) { return x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x))) / 2; }

const OpCase kCases[] = {
    {"FusedMatMul",
     "FusedMatMul",
     {kA, kB},
     {{E::kFloat32, {2, 2}, {11, 14, 24.5, 32}}},
     attributes({{"alpha", 0.5f}}),
     {},
     0,
     kDomain},
    {"FusedMatMulTransposed",
     "FusedMatMul",
     {kB, kA},
     {{E::kFloat32, {2, 2}, {22, 49, 28, 64}}},
     attributes({{"transA", std::int64_t{1}}, {"transB", std::int64_t{1}}}),
     {},
     0,
     kDomain},
    {"FusedMatMulStackTransposed",
     "FusedMatMul",
     {{E::kFloat32, {2, 2, 1}, {1, 2, 3, 4}}, {E::kFloat32, {2, 1}, {5, 7}}},
     {{E::kFloat32, {2, 1, 1}, {19, 43}}},
     attributes({{"transA", std::int64_t{1}}}),
     {},
     0,
     kDomain},
    {"Gelu", "Gelu", {row(E::kFloat32, {0, 1})}, {row(E::kFloat32, {0, 0.841344746})}, {}, {}, 1e-6, kDomain},
    {"QuickGelu",
     "QuickGelu",
     {row(E::kFloat32, {0, 1})},
     {row(E::kFloat32, {0, 1 / (1 + std::exp(-1.702))})},
     {},
     {},
     1e-6,
     kDomain},
    {"FastGelu",
     "FastGelu",
     {row(E::kFloat32, {-1, 2})},
     {row(E::kFloat32, {gelu_tanh(-1), gelu_tanh(2)})},
     {},
     {},
     1e-6,
     kDomain},
    {"FastGeluBias",
     "FastGelu",
     {{E::kFloat32, {2, 2}, {1, 2, 3, 4}}, row(E::kFloat32, {-1, 1})},
     {{E::kFloat32, {2, 2}, {0, gelu_tanh(3), gelu_tanh(2), gelu_tanh(5)}}},
     {},
     {},
     1e-6,
     kDomain},
    {"Inverse",
     "Inverse",
     {{E::kFloat64, {2, 2, 2}, {0, 2, 4, 0, 1, 2, 3, 4}}},
     {{E::kFloat64, {2, 2, 2}, {0, 0.25, 0.5, 0, -2, 1, 1.5, -0.5}}},
     {},
     {},
     1e-12,
     kDomain},
    {"InverseSingular", "Inverse", {{E::kFloat32, {2, 2}, {1, 2, 2, 4}}}, {}, {}, "matrix 0 is singular", 0, kDomain},
    {"MatMulIntegerToFloat",
     "MatMulIntegerToFloat",
     {{E::kUInt8, {1, 2}, {11, 7}},
      {E::kInt8, {2, 2}, {1, -1, 2, 3}},
      kScale,
      row(E::kFloat32, {1, 2}),
      scalar(E::kUInt8, 12),
      kLeftOut,
      row(E::kFloat32, {10, 20})},
     {{E::kFloat32, {1, 2}, {4.5, 6}}},
     {},
     {},
     0,
     kDomain},
    {"DynamicQuantizeMatMul",
     "DynamicQuantizeMatMul",
     {{E::kFloat32, {1, 2}, {0, 255}}, {E::kInt8, {2, 2}, {5, 6, 1, -1}}, kScale},
     {{E::kFloat32, {1, 2}, {127.5, -127.5}}},
     {},
     {},
     0,
     kDomain},
    {"QLinearAdd",
     "QLinearAdd",
     {row(E::kUInt8, {10, 20}),
      kScale,
      scalar(E::kUInt8, 0),
      {E::kUInt8, {2, 1}, {1, 3}},
      scalar(E::kFloat32, 2),
      kLeftOut,
      scalar(E::kFloat32, 1),
      scalar(E::kUInt8, 5)},
     {{E::kUInt8, {2, 2}, {12, 17, 16, 21}}},
     {},
     {},
     0,
     kDomain},
    {"QLinearMulSaturates",
     "QLinearMul",
     {row(E::kInt8, {100, -100}), scalar(E::kFloat32, 1), scalar(E::kInt8, 0), row(E::kInt8, {2, 2}),
      scalar(E::kFloat32, 1), scalar(E::kInt8, 0), scalar(E::kFloat32, 1), scalar(E::kInt8, 0)},
     {row(E::kInt8, {127, -128})},
     {},
     {},
     0,
     kDomain},
    {"QLinearSigmoid",
     "QLinearSigmoid",
     {row(E::kInt8, {0, 127, -128}), kScale, scalar(E::kInt8, 0), scalar(E::kFloat32, 1 / 256.0),
      scalar(E::kInt8, -128)},
     {row(E::kInt8, {0, 127, -128})},
     {},
     {},
     0,
     kDomain},
    {"QLinearLeakyRelu",
     "QLinearLeakyRelu",
     {row(E::kUInt8, {0, 128, 138}), kScale, scalar(E::kUInt8, 128), kScale, scalar(E::kUInt8, 128)},
     {row(E::kUInt8, {96, 128, 138})},
     attributes({{"alpha", 0.25f}}),
     {},
     0,
     kDomain},
    {"QuantizeInt16",
     "QuantizeLinear",
     {row(E::kFloat32, {-3, 40000}), kScale, scalar(E::kInt16, 0)},
     {row(E::kInt16, {-6, 32767})},
     {},
     {},
     0,
     kDomain},
};
INSTANTIATE_TEST_SUITE_P(Cases, MicrosoftMath, testing::ValuesIn(kCases), case_name);

/// Against the weights written out, at every width, with both kinds of zero points.
TEST(MatMulNBits, WidensCodes) {
  constexpr std::int64_t kK = 20, kN = 33, kBlock = 16, kBlocks = 2;
  for (const std::int64_t bits : {2, 4, 8}) {
    for (const bool float_zeros : {false, true}) {
      const std::int64_t blob = kBlock * bits / 8, zero_bytes = (kBlocks * bits + 7) / 8;
      Numbers a{E::kFloat32, {2, kK}, {}}, b{E::kUInt8, {kN, kBlocks, blob}, {}},
          scales{E::kFloat32, {kN * kBlocks}, {}};
      for (std::int64_t i = 0; i < 2 * kK; ++i) a.values.push_back(static_cast<double>(i % 5) - 2);
      for (std::int64_t i = 0; i < kN * kBlocks * blob; ++i) b.values.push_back(static_cast<double>(i * 37 % 256));
      for (std::int64_t i = 0; i < kN * kBlocks; ++i) scales.values.push_back(0.25 * static_cast<double>(1 + i % 3));
      Numbers zeros =
          float_zeros
              ? Numbers{E::kFloat32, {kN * kBlocks}, std::vector<double>(kN * kBlocks, 1.5)}
              : Numbers{E::kUInt8, {kN, zero_bytes}, std::vector<double>(static_cast<std::size_t>(kN * zero_bytes), 1)};
      Numbers out{E::kFloat32, {2, kN}, {}};
      for (std::int64_t row = 0; row < 2; ++row) {
        for (std::int64_t n = 0; n < kN; ++n) {
          double sum = 0;
          for (std::int64_t k = 0; k < kK; ++k) {
            const std::int64_t block = k / kBlock, at = (k % kBlock) * bits;
            const auto byte =
                static_cast<int>(b.values[static_cast<std::size_t>((n * kBlocks + block) * blob + at / 8)]);
            const int code = byte >> (at % 8) & ((1 << bits) - 1);
            // A byte of 1 holds the code 1 for block 0; block 1's code is 0 but for whole bytes.
            const double zero = float_zeros ? 1.5 : (block == 0 || bits == 8 ? 1 : 0);
            sum += a.values[static_cast<std::size_t>(row * kK + k)] * (code - zero) *
                   scales.values[static_cast<std::size_t>(n * kBlocks + block)];
          }
          out.values.push_back(sum);
        }
      }
      check({"",
             "MatMulNBits",
             {a, b, scales, zeros},
             {out},
             attributes({{"K", kK}, {"N", kN}, {"bits", bits}, {"block_size", kBlock}}),
             {},
             1e-5,
             kDomain});
    }
  }
}

}  // namespace
}  // namespace sardonyx::provider::cpu
