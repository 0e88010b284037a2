#include "kernels/math/elementwise_table.h"
#include "kernels/simd/math.h"

namespace sardonyx::kernels::SARDONYX_VARIANT {
namespace {

template <Unary kOperation>
SARDONYX_INLINE F32x16 apply_activation(F32x16 x, F32x16 alpha, F32x16 beta) {
  const F32x16 one = set1(1.0f);
  if constexpr (kOperation == Unary::kRelu) return max(zero(), x);
  if constexpr (kOperation == Unary::kLeakyRelu) return select(x < zero(), x * alpha, x);
  if constexpr (kOperation == Unary::kThresholdedRelu) return select(x > alpha, x, select(is_nan(x), x, zero()));
  if constexpr (kOperation == Unary::kElu) return select(x < zero(), alpha * expm1(x), x);
  if constexpr (kOperation == Unary::kSelu) return beta * select(x < zero(), alpha * expm1(x), x);
  if constexpr (kOperation == Unary::kCelu) return select(x < zero(), alpha * expm1(x / alpha), x);
  if constexpr (kOperation == Unary::kHardSigmoid) return max(zero(), min(one, x * alpha + beta));
  if constexpr (kOperation == Unary::kHardSwish) {
    return x * max(zero(), min(one, x * set1(1.0f / 6.0f) + set1(0.5f)));
  }
  if constexpr (kOperation == Unary::kClip) return min(beta, max(alpha, x));
  if constexpr (kOperation == Unary::kShrink) {
    return select(x < -alpha, x + beta, select(x > alpha, x - beta, select(is_nan(x), x, zero())));
  }
  if constexpr (kOperation == Unary::kSoftsign) {
    return select(abs(x) == set1(__builtin_inff()), copy_sign(one, x), x / (one + abs(x)));
  }
  if constexpr (kOperation == Unary::kMish) return x * tanh(softplus(x));
  return x;
}

template <Unary kOperation>
SARDONYX_INLINE F32x16 apply(F32x16 x, F32x16 alpha, F32x16 beta) {
  const F32x16 one = set1(1.0f);
  if constexpr (kOperation == Unary::kAbs) return abs(x);
  if constexpr (kOperation == Unary::kNeg) return -x;
  if constexpr (kOperation == Unary::kSign) return select((x == zero()) | is_nan(x), x + zero(), copy_sign(one, x));
  if constexpr (kOperation == Unary::kFloor) return floor(x);
  if constexpr (kOperation == Unary::kCeil) return ceil(x);
  if constexpr (kOperation == Unary::kRound) return round(x);
  if constexpr (kOperation == Unary::kSqrt) return sqrt(x);
  if constexpr (kOperation == Unary::kReciprocal) return one / x;
  if constexpr (kOperation == Unary::kSquare) return x * x;
  if constexpr (kOperation == Unary::kExp) return exp(x);
  if constexpr (kOperation == Unary::kExpm1) return expm1(x);
  if constexpr (kOperation == Unary::kLog) return log(x);
  if constexpr (kOperation == Unary::kLog1p) return log1p(x);
  if constexpr (kOperation == Unary::kTanh) return tanh(x);
  if constexpr (kOperation == Unary::kErf) return erf(x);
  if constexpr (kOperation == Unary::kSigmoid) return sigmoid(x);
  if constexpr (kOperation == Unary::kSilu) return silu(x);
  if constexpr (kOperation == Unary::kSwish || kOperation == Unary::kQuickGelu) return x * sigmoid(x * alpha);
  if constexpr (kOperation == Unary::kGeluErf) return gelu_erf(x);
  if constexpr (kOperation == Unary::kGeluTanh) return gelu_tanh(x);
  if constexpr (kOperation == Unary::kSoftplus) return softplus(x);
  if constexpr (kOperation == Unary::kScale) return x * alpha;
  if constexpr (kOperation == Unary::kAffine) return x * alpha + beta;
  return apply_activation<kOperation>(x, alpha, beta);
}

template <Unary kOperation>
void run_unary(const float* x, float* y, size_t n, float alpha, float beta) {
  const F32x16 a = set1(alpha);
  const F32x16 b = set1(beta);
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(y + i, apply<kOperation>(load(x + i), a, b));
  if (i < n) store_partial(y + i, n - i, apply<kOperation>(load_partial(x + i, n - i), a, b));
}

template <Binary kOperation>
SARDONYX_INLINE F32x16 combine(F32x16 a, F32x16 b) {
  if constexpr (kOperation == Binary::kAdd) return a + b;
  if constexpr (kOperation == Binary::kSub) return a - b;
  if constexpr (kOperation == Binary::kMul) return a * b;
  if constexpr (kOperation == Binary::kDiv) return a / b;
  if constexpr (kOperation == Binary::kMin) return min_nan(a, b);
  if constexpr (kOperation == Binary::kMax) return max_nan(a, b);
  if constexpr (kOperation == Binary::kPrelu) return select(a < zero(), a * b, a);
  if constexpr (kOperation == Binary::kSquaredDifference) return (a - b) * (a - b);
}

template <Binary kOperation, bool kScalarA, bool kScalarB>
void run_binary(const float* a, const float* b, float* y, size_t n) {
  if (n == 0) return;
  const F32x16 a0 = set1(a[0]);
  const F32x16 b0 = set1(b[0]);
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    store(y + i, combine<kOperation>(kScalarA ? a0 : load(a + i), kScalarB ? b0 : load(b + i)));
  }
  if (i == n) return;
  const F32x16 a_tail = kScalarA ? a0 : load_partial(a + i, n - i);
  const F32x16 b_tail = kScalarB ? b0 : load_partial(b + i, n - i);
  store_partial(y + i, n - i, combine<kOperation>(a_tail, b_tail));
}

template <int kOperation>
constexpr void fill_unary(ElementwiseTable& table) {
  table.unary[kOperation] = run_unary<static_cast<Unary>(kOperation)>;
  if constexpr (kOperation + 1 < static_cast<int>(Unary::kCount)) fill_unary<kOperation + 1>(table);
}

template <int kOperation>
constexpr void fill_binary(ElementwiseTable& table) {
  constexpr Binary kBinary = static_cast<Binary>(kOperation);
  table.binary[kOperation][0] = run_binary<kBinary, false, false>;
  table.binary[kOperation][1] = run_binary<kBinary, true, false>;
  table.binary[kOperation][2] = run_binary<kBinary, false, true>;
  if constexpr (kOperation + 1 < static_cast<int>(Binary::kCount)) fill_binary<kOperation + 1>(table);
}

constexpr ElementwiseTable make_table() {
  ElementwiseTable table = {};
  fill_unary<0>(table);
  fill_binary<0>(table);
  return table;
}

}  // namespace

extern const ElementwiseTable kElementwiseTable;
constexpr ElementwiseTable kElementwiseTable = make_table();

}  // namespace sardonyx::kernels::SARDONYX_VARIANT
