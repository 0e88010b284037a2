#include "kernels/reduce/reduce_table.h"
#include "kernels/simd/math.h"

namespace sardonyx::kernels::SARDONYX_VARIANT {
namespace {

constexpr size_t kBlock = 4096;
constexpr float kInfinity = __builtin_inff();

// What each reduction does with an element: `add` folds it into a sum, `identity` leaves a sum unchanged, `merge` joins sums.
struct SumStep {
  SARDONYX_INLINE float identity() { return 0.0f; }
  SARDONYX_INLINE F32x16 add(F32x16 sum, F32x16 x) { return sum + x; }
  SARDONYX_INLINE float merge(float a, float b) { return a + b; }
};
struct SumSquareStep : SumStep {
  SARDONYX_INLINE F32x16 add(F32x16 sum, F32x16 x) { return fma(x, x, sum); }
};
struct L1Step : SumStep {
  SARDONYX_INLINE F32x16 add(F32x16 sum, F32x16 x) { return sum + abs(x); }
};
struct ProdStep {
  SARDONYX_INLINE float identity() { return 1.0f; }
  SARDONYX_INLINE F32x16 add(F32x16 sum, F32x16 x) { return sum * x; }
  SARDONYX_INLINE float merge(float a, float b) { return a * b; }
};
struct MaxStep {
  SARDONYX_INLINE float identity() { return -kInfinity; }
  SARDONYX_INLINE F32x16 add(F32x16 sum, F32x16 x) { return max_nan(sum, x); }
  SARDONYX_INLINE float merge(float a, float b) { return a != a || a > b ? a : b; }
};
struct MinStep {
  SARDONYX_INLINE float identity() { return kInfinity; }
  SARDONYX_INLINE F32x16 add(F32x16 sum, F32x16 x) { return min_nan(sum, x); }
  SARDONYX_INLINE float merge(float a, float b) { return a != a || a < b ? a : b; }
};

template <typename Step>
SARDONYX_INLINE float fold(F32x16 sum) {
  if constexpr (__is_base_of(SumStep, Step)) return reduce_add(sum);
  alignas(64) float lane[kLanes];
  store(lane, sum);
  for (size_t half = kLanes / 2; half > 0; half /= 2) {
    for (size_t l = 0; l < half; ++l) lane[l] = Step::merge(lane[l], lane[l + half]);
  }
  return lane[0];
}
template <typename Step>
float reduce_row(const float* x, size_t n) {
  float total = Step::identity();
  for (size_t begin = 0; begin < n; begin += kBlock) {
    const size_t end = n - begin < kBlock ? n : begin + kBlock;
    F32x16 sum = set1(Step::identity());
    size_t i = begin;
    for (; i + kLanes <= end; i += kLanes) sum = Step::add(sum, load(x + i));
    if (i < end) {
      const F32x16 next = Step::add(sum, load_partial(x + i, end - i));
      sum = select(first_lanes(end - i), next, sum);
    }
    const float block = fold<Step>(sum);
    total = begin == 0 ? block : Step::merge(total, block);
  }
  return total;
}

template <typename Step>
void reduce_columns(const float* x, size_t n, size_t stride, size_t width, float* y) {
  for (size_t j = 0; j < width; j += kLanes) {
    const size_t lanes = width - j < kLanes ? width - j : kLanes;
    F32x16 total = set1(Step::identity());
    for (size_t begin = 0; begin < n; begin += kBlock) {
      const size_t end = n - begin < kBlock ? n : begin + kBlock;
      F32x16 sum = set1(Step::identity());
      for (size_t i = begin; i < end; ++i) {
        const float* p = x + i * stride + j;
        sum = Step::add(sum, load_some(p, lanes));
      }
      if (begin == 0) {
        total = sum;
      } else {
        alignas(64) float a[kLanes], b[kLanes];
        store(a, total);
        store(b, sum);
        for (size_t l = 0; l < kLanes; ++l) a[l] = Step::merge(a[l], b[l]);
        total = load(a);
      }
    }
    store_partial(y + j, lanes, total);
  }
}

/// One float of a vector function, for finishing a row.
template <typename Function>
SARDONYX_INLINE float scalar(Function function, float x) {
  alignas(64) float lane[kLanes];
  store(lane, function(set1(x)));
  return lane[0];
}
SARDONYX_INLINE float scalar_log(float x) {
  return scalar([](F32x16 v) { return log(v); }, x);
}

float mean_row(const float* x, size_t n) { return reduce_row<SumStep>(x, n) / static_cast<float>(n); }
float l2_row(const float* x, size_t n) { return __builtin_sqrtf(reduce_row<SumSquareStep>(x, n)); }
float log_sum_row(const float* x, size_t n) { return scalar_log(reduce_row<SumStep>(x, n)); }

void mean_columns(const float* x, size_t n, size_t stride, size_t width, float* y) {
  reduce_columns<SumStep>(x, n, stride, width, y);
  for (size_t j = 0; j < width; ++j) y[j] = y[j] / static_cast<float>(n);
}
void l2_columns(const float* x, size_t n, size_t stride, size_t width, float* y) {
  reduce_columns<SumSquareStep>(x, n, stride, width, y);
  for (size_t j = 0; j < width; ++j) y[j] = __builtin_sqrtf(y[j]);
}
void log_sum_columns(const float* x, size_t n, size_t stride, size_t width, float* y) {
  reduce_columns<SumStep>(x, n, stride, width, y);
  for (size_t j = 0; j < width; ++j) y[j] = scalar_log(y[j]);
}

/// Sum of e^(x - shift), each term stored where y is given.
SARDONYX_INLINE float exp_sum_row(const float* x, float* y, size_t n, float shift) {
  const F32x16 offset = set1(shift);
  float total = 0.0f;
  for (size_t begin = 0; begin < n; begin += kBlock) {
    const size_t end = n - begin < kBlock ? n : begin + kBlock;
    F32x16 sum = zero();
    size_t i = begin;
    for (; i + kLanes <= end; i += kLanes) {
      const F32x16 e = exp(load(x + i) - offset);
      if (y != nullptr) store(y + i, e);
      sum = sum + e;
    }
    if (i < end) {
      const F32x16 e = select(first_lanes(end - i), exp(load_partial(x + i, end - i) - offset), zero());
      if (y != nullptr) store_partial(y + i, end - i, e);
      sum = sum + e;
    }
    total = begin == 0 ? reduce_add(sum) : total + reduce_add(sum);
  }
  return total;
}

/// An infinite maximum would give NaN for the elements equal to it.
SARDONYX_INLINE float finite_shift(float maximum) { return maximum == kInfinity || maximum == -kInfinity ? 0.0f : maximum; }

float log_sum_exp_row(const float* x, size_t n) {
  const float shift = finite_shift(reduce_row<MaxStep>(x, n));
  return shift + scalar_log(exp_sum_row(x, nullptr, n, shift));
}

void softmax_row(const float* x, float* y, size_t n) {
  const float sum = exp_sum_row(x, y, n, reduce_row<MaxStep>(x, n));
  const F32x16 factor = set1(1.0f / sum);
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(y + i, load(y + i) * factor);
  if (i < n) store_partial(y + i, n - i, load_partial(y + i, n - i) * factor);
}

void log_softmax_row(const float* x, float* y, size_t n) {
  const float maximum = reduce_row<MaxStep>(x, n);
  const F32x16 offset = set1(maximum);
  const F32x16 log_sum = set1(scalar_log(exp_sum_row(x, nullptr, n, maximum)));
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(y + i, (load(x + i) - offset) - log_sum);
  if (i < n) store_partial(y + i, n - i, (load_partial(x + i, n - i) - offset) - log_sum);
}

/// Up to 16 columns: their maxima and sums of exponentials, the terms stored where y is given.
struct ColumnSums {
  F32x16 maximum, sum;
};
SARDONYX_INLINE ColumnSums exp_sum_columns(const float* x, float* y, size_t n, size_t stride, size_t lanes, bool finite) {
  ColumnSums c = {set1(-kInfinity), zero()};
  for (size_t i = 0; i < n; ++i) c.maximum = max_nan(c.maximum, load_partial(x + i * stride, lanes));
  F32x16 shift = c.maximum;
  if (finite) shift = select(abs(shift) == set1(kInfinity), zero(), shift);
  for (size_t begin = 0; begin < n; begin += kBlock) {
    const size_t end = n - begin < kBlock ? n : begin + kBlock;
    F32x16 sum = zero();
    for (size_t i = begin; i < end; ++i) {
      const F32x16 e = exp(load_partial(x + i * stride, lanes) - shift);
      if (y != nullptr) store_partial(y + i * stride, lanes, e);
      sum = sum + e;
    }
    c.sum = begin == 0 ? sum : c.sum + sum;
  }
  c.maximum = shift;
  return c;
}

void softmax_columns(const float* x, float* y, size_t n, size_t stride, size_t width) {
  for (size_t j = 0; j < width; j += kLanes) {
    const size_t lanes = width - j < kLanes ? width - j : kLanes;
    const F32x16 factor = set1(1.0f) / exp_sum_columns(x + j, y + j, n, stride, lanes, false).sum;
    for (size_t i = 0; i < n; ++i) {
      float* p = y + i * stride + j;
      store_partial(p, lanes, load_partial(p, lanes) * factor);
    }
  }
}

void log_softmax_columns(const float* x, float* y, size_t n, size_t stride, size_t width) {
  for (size_t j = 0; j < width; j += kLanes) {
    const size_t lanes = width - j < kLanes ? width - j : kLanes;
    const ColumnSums c = exp_sum_columns(x + j, nullptr, n, stride, lanes, false);
    const F32x16 log_sum = log(c.sum);
    for (size_t i = 0; i < n; ++i) {
      const size_t at = i * stride + j;
      store_partial(y + at, lanes, (load_partial(x + at, lanes) - c.maximum) - log_sum);
    }
  }
}

void log_sum_exp_columns(const float* x, size_t n, size_t stride, size_t width, float* y) {
  for (size_t j = 0; j < width; j += kLanes) {
    const size_t lanes = width - j < kLanes ? width - j : kLanes;
    const ColumnSums c = exp_sum_columns(x + j, nullptr, n, stride, lanes, true);
    store_partial(y + j, lanes, c.maximum + log(c.sum));
  }
}

/// Calls step(i, lanes) for every vector of a row, all but the last with 16 lanes.
template <typename Step>
SARDONYX_INLINE void for_vectors(size_t n, Step step) {
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) step(i, kLanes);
  if (i < n) step(i, n - i);
}

/// x plus the residual, stored where it is read again: in `sum`, else in y.
SARDONYX_INLINE const float* add_residual(const NormRow& r) {
  if (r.residual == nullptr) return r.x;
  float* out = r.sum != nullptr ? r.sum : r.y;
  for_vectors(r.n, [&](size_t i, size_t lanes) {
    store_some(out + i, lanes, load_some(r.x + i, lanes) + load_some(r.residual + i, lanes));
  });
  return out;
}

SARDONYX_INLINE float centred_square_sum(const float* x, size_t n, float mean) {
  const F32x16 centre = set1(mean);
  float total = 0.0f;
  for (size_t begin = 0; begin < n; begin += kBlock) {
    const size_t count = n - begin < kBlock ? n - begin : kBlock;
    F32x16 sum = zero();
    for_vectors(count, [&](size_t i, size_t lanes) {
      F32x16 d = load_some(x + begin + i, lanes) - centre;
      if (lanes < kLanes) d = select(first_lanes(lanes), d, zero());
      sum = fma(d, d, sum);
    });
    total = begin == 0 ? reduce_add(sum) : total + reduce_add(sum);
  }
  return total;
}

SARDONYX_INLINE void write_normalised(const NormRow& r, const float* x) {
  const F32x16 mean = set1(r.mean);
  const F32x16 inverse = set1(r.inverse);
  for_vectors(r.n, [&](size_t i, size_t lanes) {
    F32x16 y = (load_some(x + i, lanes) - mean) * inverse;
    if (r.gamma != nullptr && r.beta != nullptr) {
      y = fma(y, load_some(r.gamma + i, lanes), load_some(r.beta + i, lanes));
    } else if (r.gamma != nullptr) {
      y = y * load_some(r.gamma + i, lanes);
    } else if (r.beta != nullptr) {
      y = y + load_some(r.beta + i, lanes);
    }
    store_some(r.y + i, lanes, y);
  });
}

void layer_norm_row(NormRow& r) {
  const float* x = add_residual(r);
  r.mean = reduce_row<SumStep>(x, r.n) / static_cast<float>(r.n);
  const float variance = centred_square_sum(x, r.n, r.mean) / static_cast<float>(r.n);
  r.inverse = 1.0f / __builtin_sqrtf(variance + r.epsilon);
  write_normalised(r, x);
}

void rms_norm_row(NormRow& r) {
  const float* x = add_residual(r);
  r.mean = 0.0f;
  r.inverse = 1.0f / __builtin_sqrtf(reduce_row<SumSquareStep>(x, r.n) / static_cast<float>(r.n) + r.epsilon);
  write_normalised(r, x);
}

constexpr ReduceTable make_table() {
  ReduceTable t = {};
  t.row[static_cast<int>(Reduction::kSum)] = reduce_row<SumStep>;
  t.row[static_cast<int>(Reduction::kMean)] = mean_row;
  t.row[static_cast<int>(Reduction::kMax)] = reduce_row<MaxStep>;
  t.row[static_cast<int>(Reduction::kMin)] = reduce_row<MinStep>;
  t.row[static_cast<int>(Reduction::kProd)] = reduce_row<ProdStep>;
  t.row[static_cast<int>(Reduction::kSumSquare)] = reduce_row<SumSquareStep>;
  t.row[static_cast<int>(Reduction::kL1)] = reduce_row<L1Step>;
  t.row[static_cast<int>(Reduction::kL2)] = l2_row;
  t.row[static_cast<int>(Reduction::kLogSum)] = log_sum_row;
  t.row[static_cast<int>(Reduction::kLogSumExp)] = log_sum_exp_row;
  t.columns[static_cast<int>(Reduction::kSum)] = reduce_columns<SumStep>;
  t.columns[static_cast<int>(Reduction::kMean)] = mean_columns;
  t.columns[static_cast<int>(Reduction::kMax)] = reduce_columns<MaxStep>;
  t.columns[static_cast<int>(Reduction::kMin)] = reduce_columns<MinStep>;
  t.columns[static_cast<int>(Reduction::kProd)] = reduce_columns<ProdStep>;
  t.columns[static_cast<int>(Reduction::kSumSquare)] = reduce_columns<SumSquareStep>;
  t.columns[static_cast<int>(Reduction::kL1)] = reduce_columns<L1Step>;
  t.columns[static_cast<int>(Reduction::kL2)] = l2_columns;
  t.columns[static_cast<int>(Reduction::kLogSum)] = log_sum_columns;
  t.columns[static_cast<int>(Reduction::kLogSumExp)] = log_sum_exp_columns;
  t.softmax_row = softmax_row;
  t.log_softmax_row = log_softmax_row;
  t.softmax_columns = softmax_columns;
  t.log_softmax_columns = log_softmax_columns;
  t.layer_norm_row = layer_norm_row;
  t.rms_norm_row = rms_norm_row;
  return t;
}

}  // namespace

extern const ReduceTable kReduceTable;
constexpr ReduceTable kReduceTable = make_table();

}  // namespace sardonyx::kernels::SARDONYX_VARIANT
