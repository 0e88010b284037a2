#include "kernels/attention/attention_table.h"
#include "kernels/simd/math.h"

namespace sardonyx::kernels::SARDONYX_VARIANT {
namespace {

SARDONYX_INLINE float scalar_exp(float x) {
  alignas(64) float lane[kLanes];
  store(lane, exp(set1(x)));
  return lane[0];
}

SARDONYX_INLINE void apply_masks(const AttentionScores& t) {
  for (size_t i = 0; i < t.visible; i += kLanes) {
    const size_t lanes = t.visible - i < kLanes ? t.visible - i : kLanes;
    F32x16 s = load_partial(t.scores + i, lanes);
    if (t.softcap != 0.0f) s = set1(t.softcap) * tanh(s / set1(t.softcap));
    if (t.additive_mask != nullptr) s = s + load_partial(t.additive_mask + i, lanes);
    if (t.keep_mask != nullptr) {
      alignas(64) int32_t keep[kLanes] = {};
      for (size_t l = 0; l < lanes; ++l) keep[l] = t.keep_mask[i + l];
      s = select(load(keep) == set1_int(0), set1(-__builtin_inff()), s);
    }
    store_partial(t.scores + i, lanes, s);
  }
}

SARDONYX_INLINE float maximum_of(const AttentionScores& t) {
  F32x16 maximum = set1(t.maximum);
  size_t i = 0;
  for (; i + kLanes <= t.visible; i += kLanes) maximum = max_nan(maximum, load(t.scores + i));
  if (i < t.visible) maximum = max_nan(maximum, load_partial(t.scores + i, t.visible - i, t.maximum));
  return any(is_nan(maximum)) ? __builtin_nanf("") : reduce_max(maximum);
}

void weigh(AttentionScores& t) {
  if (t.additive_mask != nullptr || t.keep_mask != nullptr || t.softcap != 0.0f) apply_masks(t);
  const float maximum = maximum_of(t);
  t.correction = 1.0f;
  if (maximum == -__builtin_inff()) {  // no key so far
    for (size_t i = 0; i < t.width; ++i) t.scores[i] = 0.0f;
    return;
  }
  if (maximum != t.maximum) t.correction = scalar_exp(t.maximum - maximum);
  const F32x16 offset = set1(maximum);
  F32x16 sum = zero();
  for (size_t i = 0; i < t.width; i += kLanes) {
    F32x16 e = zero();
    if (i + kLanes <= t.visible) {
      e = exp(load(t.scores + i) - offset);
    } else if (i < t.visible) {
      e = select(first_lanes(t.visible - i), exp(load_partial(t.scores + i, t.visible - i) - offset), zero());
    }
    if (i + kLanes <= t.width) {
      store(t.scores + i, e);
    } else {
      store_partial(t.scores + i, t.width - i, e);
    }
    sum = sum + e;
  }
  t.sum = t.sum * t.correction + reduce_add(sum);
  t.maximum = maximum;
}

}  // namespace

extern const AttentionTable kAttentionTable;
constexpr AttentionTable kAttentionTable = {weigh};

}  // namespace sardonyx::kernels::SARDONYX_VARIANT
