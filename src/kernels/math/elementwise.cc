#include "kernels/math/elementwise.h"

#include <limits>

#include "kernels/simd/dispatch.h"

namespace sardonyx::kernels {

SARDONYX_VARIANTS(ElementwiseTable, kElementwiseTable);

namespace {

constexpr std::size_t kChunk = 16384;  // elements per task

}  // namespace

UnaryFunction unary_function(Unary operation) {
  return kElementwiseTableVariants.get().unary[static_cast<int>(operation)];
}

Activation activation_of(Unary operation, float alpha, float beta) {
  switch (operation) {
    case Unary::kIdentity: return {};
    case Unary::kRelu: return {nullptr, true, 0.0f, std::numeric_limits<float>::infinity()};
    case Unary::kClip: return {nullptr, true, alpha, beta};
    default: return {unary_function(operation), false, alpha, beta};
  }
}

void unary(Unary operation, const float* x, float* y, std::size_t n, UnaryParameters parameters, Parallel parallel) {
  const UnaryFunction function = unary_function(operation);
  if (n <= kChunk) return function(x, y, n, parameters.alpha, parameters.beta);
  parallel.parallel_for(n, kChunk, [&](std::size_t begin, std::size_t end) {
    function(x + begin, y + begin, end - begin, parameters.alpha, parameters.beta);
  });
}

void binary(Binary operation, Operands operands, const float* a, const float* b, float* y, std::size_t n,
            Parallel parallel) {
  const auto& table = kElementwiseTableVariants.get();
  const BinaryFunction function = table.binary[static_cast<int>(operation)][static_cast<int>(operands)];
  if (n <= kChunk) return function(a, b, y, n);
  const std::size_t a_step = operands == Operands::kScalarA ? 0 : 1;
  const std::size_t b_step = operands == Operands::kScalarB ? 0 : 1;
  parallel.parallel_for(n, kChunk, [&](std::size_t begin, std::size_t end) {
    function(a + begin * a_step, b + begin * b_step, y + begin, end - begin);
  });
}

}  // namespace sardonyx::kernels
