#pragma once

#include <stddef.h>
#include <stdint.h>

namespace sardonyx::kernels {

/// Functions of one float. alpha and beta are those of the ONNX operator of that name where it has them; where it names
/// them otherwise, the comment says which they are.
enum class Unary : uint8_t {
  kIdentity,
  kAbs,
  kNeg,
  kSign,  ///< -1, 0 or 1; NaN stays
  kFloor,
  kCeil,
  kRound,  ///< halves to even
  kSqrt,
  kReciprocal,
  kSquare,
  kExp,
  kExpm1,  ///< e^x - 1
  kLog,
  kLog1p,  ///< ln(1 + x)
  kTanh,
  kErf,
  kSigmoid,
  kSilu,   ///< x sigmoid(x)
  kSwish,  ///< x sigmoid(alpha x)
  kGeluErf,
  kGeluTanh,
  kQuickGelu,  ///< x sigmoid(alpha x), alpha usually 1.702: kSwish by another name
  kSoftplus,
  kSoftsign,
  kMish,
  kRelu,
  kLeakyRelu,
  kThresholdedRelu,
  kElu,
  kSelu,  ///< alpha, beta = gamma
  kCelu,
  kHardSigmoid,
  kHardSwish,
  kClip,    ///< max(alpha, min(beta, x)); NaN stays
  kShrink,  ///< alpha = lambd, beta = bias
  kScale,   ///< alpha x
  kAffine,  ///< alpha x + beta, two roundings
  kCount,
};

/// Functions of two floats.
enum class Binary : uint8_t {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMin,  ///< NaN where either is NaN, as ONNX's Min
  kMax,
  kPrelu,              ///< a where a >= 0, else a b
  kSquaredDifference,  ///< (a - b)^2
  kCount,
};

/// y may be x.
using UnaryFunction = void (*)(const float* x, float* y, size_t n, float alpha, float beta);
/// y may be a or b.
using BinaryFunction = void (*)(const float* a, const float* b, float* y, size_t n);

/// What products apply to results that are still in registers.
struct Activation {
  UnaryFunction function = nullptr;  ///< null: none, or the clamp
  bool clamps = false;               ///< min(beta, max(alpha, x)), without a call: Relu and Clip
  float alpha = 0.0f;
  float beta = 0.0f;

  bool any() const { return function != nullptr || clamps; }
};

struct ElementwiseTable {
  UnaryFunction unary[static_cast<int>(Unary::kCount)];
  /// By operation, then: 0 two arrays, 1 a is one value, 2 b is one value.
  BinaryFunction binary[static_cast<int>(Binary::kCount)][3];
};

}  // namespace sardonyx::kernels
