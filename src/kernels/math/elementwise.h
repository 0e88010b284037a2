#pragma once

#include <cstddef>

#include "base/thread_pool.h"
#include "kernels/math/elementwise_table.h"

namespace sardonyx::kernels {

// Element by element on float arrays. Every result is the same on every instruction set and for every split among
// threads. Outputs may be the inputs themselves, but may not overlap them otherwise.

struct UnaryParameters {
  float alpha = 0.0f;
  float beta = 0.0f;
};

/// The function behind `operation` for the running instruction set; look it up once where it is called in a loop.
UnaryFunction unary_function(Unary operation);

/// The same as products take it.
Activation activation_of(Unary operation, float alpha, float beta);

/// y[i] = operation(x[i]) for i < n.
void unary(Unary operation, const float* x, float* y, std::size_t n, UnaryParameters parameters = {},
           Parallel parallel = {});

/// Which operands of a binary operation are arrays.
enum class Operands {
  kArrays,   ///< y[i] = a[i] op b[i]
  kScalarA,  ///< y[i] = a[0] op b[i]
  kScalarB,  ///< y[i] = a[i] op b[0]
};

void binary(Binary operation, Operands operands, const float* a, const float* b, float* y, std::size_t n,
            Parallel parallel = {});

inline void exp(const float* x, float* y, std::size_t n) { unary(Unary::kExp, x, y, n); }
inline void log(const float* x, float* y, std::size_t n) { unary(Unary::kLog, x, y, n); }
inline void tanh(const float* x, float* y, std::size_t n) { unary(Unary::kTanh, x, y, n); }
inline void erf(const float* x, float* y, std::size_t n) { unary(Unary::kErf, x, y, n); }
inline void sigmoid(const float* x, float* y, std::size_t n) { unary(Unary::kSigmoid, x, y, n); }

// Functions that models call rarely, computed in double with one set of polynomials and rounded once: at most 1 ULP.
// Arguments of any size are reduced exactly.
enum class Rare { kSin, kCos, kTan, kAsin, kAcos, kAtan, kSinh, kCosh, kAsinh, kAcosh, kAtanh };
void rare(Rare function, const float* x, float* y, std::size_t n, Parallel parallel = {});

/// y[i] = x[i] to the power e[i] (or e[0], or x[0]), at most 1 ULP; special values as C's pow. Exponents 4, 3, 2, 1,
/// 0.5 and -1 as one value are x * x, x, sqrt(x) (but for -infinity and -0) and 1 / x.
void power(Operands operands, const float* x, const float* e, float* y, std::size_t n, Parallel parallel = {});

}  // namespace sardonyx::kernels
