#include "kernels/math/elementwise.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

#include "kernels/simd/isa_test_util.h"

namespace sardonyx::kernels {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// Floats of every exponent and sign, zeros, infinities, NaN, subnormals: about 700,000.
const std::vector<float>& all_kinds_of_floats() {
  static const std::vector<float> floats = [] {
    std::vector<float> list;
    for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 6151) {
      list.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    }
    for (float x : {0.0f,   -0.0f,   1.0f,    -1.0f,     0.5f,    kInfinity,   -kInfinity, kNan,
                    1e-45f, -1e-45f, 3.4e38f, 88.72283f, -103.9f, -103.98f,    -104.0f,    -104.1f,
                    88.73f, 0.65f,   3.92f,   2.5f,      -2.5f,   0.49999997f, 8388607.5f}) {
      list.push_back(x);
    }
    return list;
  }();
  return floats;
}

/// Distance of `got` from the exact `want`, in units of the last place of a float near `want`.
double ulps(float got, double want) {
  const float rounded = static_cast<float>(want);
  if (std::isnan(want)) return std::isnan(got) ? 0 : 1e9;
  if (std::isinf(rounded) || std::isinf(got)) {
    if (got == rounded) return 0;
    return std::isinf(got) && std::fabs(want) > 3.4028233e38 ? 1 : 1e9;
  }
  const int exponent = std::max(std::ilogb(want == 0 ? 1e-300 : want), -126);
  return std::fabs(got - want) / std::ldexp(1.0, exponent - 23);
}

struct UnaryCase {
  Unary operation;
  const char* name;
  double (*expected)(double);
  double max_ulps;
  double max_absolute;  // an error below this is fine whatever its ULPs
  UnaryParameters parameters = {};
};

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }
double softplus_of(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }
double gelu_of(double x) { return x < -40 ? (std::isinf(x) ? NAN : 0) : 0.5 * x * std::erfc(-x * std::sqrt(0.5)); }
double gelu_tanh_of(double x) {
  return std::fabs(x) > 1e12 ? (x > 0 ? x : (std::isinf(x) ? NAN : 0))
                             : 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715f * x * x * x)));
}

const UnaryCase kUnaryCases[] = {
    {Unary::kIdentity, "identity", [](double x) { return x; }, 0, 0},
    {Unary::kAbs, "abs", [](double x) { return std::fabs(x); }, 0, 0},
    {Unary::kNeg, "neg", [](double x) { return -x; }, 0, 0},
    {Unary::kSign, "sign", [](double x) { return x > 0   ? 1.0
                                                 : x < 0 ? -1.0
                                                         : x; }, 0, 0},
    {Unary::kFloor, "floor", [](double x) { return std::floor(x); }, 0, 0},
    {Unary::kCeil, "ceil", [](double x) { return std::ceil(x); }, 0, 0},
    {Unary::kRound, "round", [](double x) { return std::nearbyint(x); }, 0, 0},
    {Unary::kSqrt, "sqrt", [](double x) { return std::sqrt(x); }, 0.5, 0},
    {Unary::kReciprocal, "reciprocal", [](double x) { return 1 / x; }, 0.5, 0},
    {Unary::kSquare, "square", [](double x) { return x * x; }, 0.5, 0},
    {Unary::kExp, "exp", [](double x) { return std::exp(x); }, 1, 0},
    {Unary::kExpm1, "expm1", [](double x) { return std::expm1(x); }, 2, 0},
    {Unary::kLog, "log", [](double x) { return std::log(x); }, 1, 0},
    {Unary::kLog1p, "log1p", [](double x) { return std::log1p(x); }, 2, 0},
    {Unary::kTanh, "tanh", [](double x) { return std::tanh(x); }, 2, 0},
    {Unary::kErf, "erf", [](double x) { return std::erf(x); }, 3, 1e-7},
    {Unary::kSigmoid, "sigmoid", sigmoid_of, 2, 0},
    {Unary::kSilu, "silu", [](double x) { return x * sigmoid_of(x); }, 3, 1e-43},
    {Unary::kSwish, "swish", [](double x) { return x * sigmoid_of(0.5 * x); }, 3, 1e-42, {0.5f, 0}},
    {Unary::kSoftplus, "softplus", softplus_of, 3, 0},
    {Unary::kSoftsign, "softsign",
     [](double x) { return std::isinf(x) ? std::copysign(1, x) : x / (1 + std::fabs(x)); }, 1.5, 0},
    {Unary::kMish, "mish", [](double x) { return x * std::tanh(softplus_of(x)); }, 6, 1e-43},
    {Unary::kRelu, "relu", [](double x) { return x < 0 ? 0 : x; }, 0, 0},
    {Unary::kLeakyRelu, "leaky_relu", [](double x) { return x < 0 ? x * 0.25 : x; }, 0.5, 0, {0.25f, 0}},
    {Unary::kThresholdedRelu,
     "thresholded_relu",
     [](double x) { return x > 2           ? x
                           : std::isnan(x) ? x
                                           : 0; },
     0,
     0,
     {2.0f, 0}},
    {Unary::kElu, "elu", [](double x) { return x < 0 ? 2 * std::expm1(x) : x; }, 2, 0, {2.0f, 0}},
    {Unary::kSelu, "selu", [](double x) { return x < 0 ? 3 * std::expm1(x) : 1.5 * x; }, 3, 0, {2.0f, 1.5f}},
    {Unary::kCelu, "celu", [](double x) { return x < 0 ? 2 * std::expm1(x / 2) : x; }, 2, 0, {2.0f, 0}},
    {Unary::kHardSigmoid,
     "hard_sigmoid",
     [](double x) { return std::isnan(x) ? x : std::max(0.0, std::min(1.0, x * 0.25 + 0.5)); },
     1,
     1e-7,
     {0.25f, 0.5f}},
    {Unary::kClip,
     "clip",
     [](double x) { return std::isnan(x) ? x : std::max(-1.5, std::min(2.0, x)); },
     0,
     0,
     {-1.5f, 2.0f}},
    {Unary::kShrink,
     "shrink",
     [](double x) {
       return x < -0.5 ? x + 0.25 : x > 0.5 ? x - 0.25 : std::isnan(x) ? x : 0;
     },
     0.5,
     0,
     {0.5f, 0.25f}},
    {Unary::kScale, "scale", [](double x) { return x * 3; }, 0.5, 0, {3.0f, 0}},
};

TEST(Elementwise, UnaryErrorBoundsOnEveryInstructionSet) {
  const std::vector<float>& x = all_kinds_of_floats();
  std::vector<float> y(x.size());
  std::vector<double> want(x.size());
  for (const UnaryCase& c : kUnaryCases) {
    for (std::size_t i = 0; i < x.size(); ++i) want[i] = c.expected(x[i]);
    for (Isa isa : runnable_isas()) {
      const ScopedIsa scope(isa);
      unary(c.operation, x.data(), y.data(), x.size(), c.parameters);
      double worst = 0;
      float worst_x = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double error = ulps(y[i], want[i]);
        if (error > worst && !(std::fabs(y[i] - want[i]) <= c.max_absolute)) {
          worst = error;
          worst_x = x[i];
        }
      }
      EXPECT_LE(worst, c.max_ulps) << c.name << " at " << worst_x << " on " << name(isa);
    }
  }
}

TEST(Elementwise, GeluIsWithinItsAbsoluteBound) {
  const std::vector<float>& x = all_kinds_of_floats();
  std::vector<float> y(x.size());
  for (Unary operation : {Unary::kGeluErf, Unary::kGeluTanh}) {
    unary(operation, x.data(), y.data(), x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double want = operation == Unary::kGeluErf ? gelu_of(x[i]) : gelu_tanh_of(x[i]);
      if (std::isnan(want) || std::isinf(want)) continue;
      ASSERT_LE(std::fabs(y[i] - want), 2.5e-7 * std::fabs(x[i]) + 1e-44) << x[i];
    }
  }
}

TEST(Elementwise, EveryUnaryHasTheSameBitsOnEveryInstructionSet) {
  const std::vector<float>& x = all_kinds_of_floats();
  std::vector<float> want(x.size());
  std::vector<float> got(x.size());
  for (int operation = 0; operation < static_cast<int>(Unary::kCount); ++operation) {
    for (Isa isa : runnable_isas()) {
      const ScopedIsa scope(isa);
      std::vector<float>& y = isa == Isa::kGeneric ? want : got;
      unary(static_cast<Unary>(operation), x.data(), y.data(), x.size(), {0.75f, 1.25f});
      if (isa == Isa::kGeneric) continue;
      for (std::size_t i = 0; i < x.size(); ++i) {
        if (std::isnan(want[i]) && std::isnan(got[i])) continue;  // payloads are exempt
        ASSERT_EQ(std::bit_cast<std::uint32_t>(want[i]), std::bit_cast<std::uint32_t>(got[i]))
            << "operation " << operation << " at " << x[i] << " on " << name(isa) << ": " << want[i] << " and "
            << got[i];
      }
    }
  }
}

TEST(Elementwise, TailsTouchOnlyTheirElements) {
  for (Isa isa : runnable_isas()) {
    const ScopedIsa scope(isa);
    for (std::size_t n : {0, 1, 7, 8, 9, 15, 16, 17, 31, 33}) {
      std::vector<float> x(n, -2.0f);
      std::vector<float> y(n + 2, 5.0f);
      unary(Unary::kAbs, x.data(), y.data() + 1, n);
      EXPECT_EQ(y.front(), 5.0f);
      EXPECT_EQ(y.back(), 5.0f);
      for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(y[i + 1], 2.0f);
      unary(Unary::kScale, y.data() + 1, y.data() + 1, n, {2.0f});  // in place
      for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(y[i + 1], 4.0f);
    }
  }
}

TEST(Elementwise, ExpKeepsThePromisesOfTheMasks) {
  const float x[] = {0.0f, -0.0f, -104.1f, -1e30f, -kInfinity, kInfinity, -103.0f};
  for (Isa isa : runnable_isas()) {
    const ScopedIsa scope(isa);
    float y[7];
    exp(x, y, 7);
    EXPECT_EQ(y[0], 1.0f);
    EXPECT_EQ(y[1], 1.0f);
    for (int i = 2; i < 5; ++i) EXPECT_EQ(std::bit_cast<std::uint32_t>(y[i]), 0u) << x[i];
    EXPECT_EQ(y[5], kInfinity);
    EXPECT_GT(y[6], 0.0f);
  }
}

float combine(Binary operation, float a, float b) {
  switch (operation) {
    case Binary::kAdd: return a + b;
    case Binary::kSub: return a - b;
    case Binary::kMul: return a * b;
    case Binary::kDiv: return a / b;
    case Binary::kMin: return std::isnan(a) || std::isnan(b) ? kNan : std::min(a, b);
    case Binary::kMax: return std::isnan(a) || std::isnan(b) ? kNan : std::max(a, b);
    case Binary::kPrelu: return a < 0 ? a * b : a;
    case Binary::kSquaredDifference: return (a - b) * (a - b);
    case Binary::kCount: break;
  }
  return 0;
}

TEST(Elementwise, BinaryOperationsAndTheirScalarForms) {
  const float specials[] = {0.0f, -0.0f, 1.5f, -2.25f, kInfinity, -kInfinity, kNan, 1e-40f, 3e38f, 7.0f};
  for (Isa isa : runnable_isas()) {
    const ScopedIsa scope(isa);
    for (int op = 0; op < static_cast<int>(Binary::kCount); ++op) {
      for (Operands operands : {Operands::kArrays, Operands::kScalarA, Operands::kScalarB}) {
        for (std::size_t n : {1, 10, 16, 35}) {
          std::vector<float> a(n), b(n), y(n);
          for (std::size_t i = 0; i < n; ++i) {
            a[i] = specials[i % 10];
            b[i] = specials[i * 7 / 3 % 10];
          }
          binary(static_cast<Binary>(op), operands, a.data(), b.data(), y.data(), n);
          for (std::size_t i = 0; i < n; ++i) {
            const float want = combine(static_cast<Binary>(op), operands == Operands::kScalarA ? a[0] : a[i],
                                       operands == Operands::kScalarB ? b[0] : b[i]);
            if (std::isnan(want)) {
              ASSERT_TRUE(std::isnan(y[i])) << op << " " << i;
            } else {
              ASSERT_EQ(y[i], want) << op << " " << i;
            }
          }
        }
      }
    }
  }
}

TEST(Elementwise, LongArraysOnThreads) {
  ThreadPool pool(3);
  std::vector<float> x(100'003), serial(x.size()), threaded(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) * 1e-3f - 50.0f;
  unary(Unary::kTanh, x.data(), serial.data(), x.size());
  unary(Unary::kTanh, x.data(), threaded.data(), x.size(), {}, {&pool, 3});
  EXPECT_EQ(serial, threaded);
}

struct RareCase {
  Rare function;
  const char* name;
  double (*expected)(double);
};

const RareCase kRareCases[] = {
    {Rare::kSin, "sin", std::sin},       {Rare::kCos, "cos", std::cos},       {Rare::kTan, "tan", std::tan},
    {Rare::kAsin, "asin", std::asin},    {Rare::kAcos, "acos", std::acos},    {Rare::kAtan, "atan", std::atan},
    {Rare::kSinh, "sinh", std::sinh},    {Rare::kCosh, "cosh", std::cosh},    {Rare::kAsinh, "asinh", std::asinh},
    {Rare::kAcosh, "acosh", std::acosh}, {Rare::kAtanh, "atanh", std::atanh},
};

TEST(Elementwise, RareFunctionsRoundOnce) {
  std::vector<float> x = all_kinds_of_floats();
  for (int i = -3000; i <= 3000; ++i) x.push_back(static_cast<float>(i) * 4e-4f);
  std::vector<float> y(x.size());
  for (const RareCase& c : kRareCases) {
    rare(c.function, x.data(), y.data(), x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_LE(ulps(y[i], c.expected(x[i])), 0.51) << c.name << " at " << x[i] << " gave " << y[i];
    }
  }
}

TEST(Elementwise, PowerFollowsC) {
  std::vector<float> bases = {0.0f, -0.0f, 1.0f, -1.0f,  kInfinity, -kInfinity, kNan,
                              2.0f, -2.0f, 0.5f, 1e-40f, 1e30f,     -8.0f,      3.7f};
  std::vector<float> exponents = {0.0f, -0.0f, 1.0f,      2.0f,       3.0f, 4.0f, -1.0f,   -2.0f,  -3.0f,
                                  0.5f, -0.5f, kInfinity, -kInfinity, kNan, 1e9f, 0.3333f, 101.0f, -100.5f};
  for (int i = 1; i < 200; ++i) bases.push_back(static_cast<float>(i) * 0.137f);
  for (float e : exponents) {
    std::vector<float> y(bases.size());
    power(Operands::kScalarB, bases.data(), &e, y.data(), bases.size());
    for (std::size_t i = 0; i < bases.size(); ++i) {
      const double want = std::pow(static_cast<double>(bases[i]), static_cast<double>(e));
      ASSERT_LE(ulps(y[i], want), 0.51) << bases[i] << " ^ " << e << " gave " << y[i];
      if (want == 0) {
        ASSERT_EQ(std::signbit(y[i]), std::signbit(want)) << bases[i] << " ^ " << e;
      }
      float one = 0;
      power(Operands::kArrays, &bases[i], &e, &one, 1);
      ASSERT_LE(ulps(one, want), 0.51) << bases[i] << " ^ " << e << " gave " << one;
    }
  }
}

}  // namespace
}  // namespace sardonyx::kernels
