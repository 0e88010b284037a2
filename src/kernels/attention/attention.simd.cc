#include "kernels/attention/attention_table.h"
#include "kernels/simd/math.h"

namespace sardonyx::kernels::SARDONYX_VARIANT {
namespace {

SARDONYX_INLINE float scalar_exp(float x) {
  alignas(64) float lane[kLanes];
  store(lane, exp(set1(x)));
  return lane[0];
}

SARDONYX_INLINE M16 removed(const uint8_t* keep, size_t lanes) {
  if (lanes == kLanes) return load_widen(keep) == set1_int(0);
  uint8_t bytes[kLanes] = {};
  for (size_t l = 0; l < lanes; ++l) bytes[l] = keep[l];
  return load_widen(bytes) == set1_int(0);
}

/// Applies softcap and masks in place; the largest score, NaN not counted.
SARDONYX_INLINE float mask_and_maximum(const AttentionScores& t) {
  const bool changes = t.additive_mask != nullptr || t.keep_mask != nullptr || t.softcap != 0.0f;
  F32x16 maximum = set1(t.maximum);
  for (size_t i = 0; i < t.visible; i += kLanes) {
    const size_t lanes = t.visible - i < kLanes ? t.visible - i : kLanes;
    F32x16 s = load_some(t.scores + i, lanes);
    if (changes) {
      if (t.softcap != 0.0f) s = set1(t.softcap) * tanh(s / set1(t.softcap));
      if (t.additive_mask != nullptr) s = s + load_some(t.additive_mask + i, lanes);
      if (t.keep_mask != nullptr) s = select(removed(t.keep_mask + i, lanes), set1(-__builtin_inff()), s);
      store_some(t.scores + i, lanes, s);
    }
    if (lanes < kLanes) s = select(first_lanes(lanes), s, maximum);
    maximum = max(s, maximum);  // NaN: the second operand
  }
  return reduce_max(maximum);
}

/// No score above -infinity so far: nothing to weigh, unless there are NaNs.
SARDONYX_INLINE void weigh_nothing(AttentionScores& t) {
  for (size_t i = 0; i < t.visible; ++i) {
    if (t.scores[i] != t.scores[i]) {
      t.sum = t.scores[i];
      t.maximum = 0.0f;
    }
  }
  for (size_t i = 0; i < t.width; ++i) t.scores[i] = 0.0f;
  t.correction = 1.0f;
}

void weigh(AttentionScores& t) {
  const float maximum = mask_and_maximum(t);
  if (maximum == -__builtin_inff()) return weigh_nothing(t);
  t.correction = 1.0f;
  if (t.maximum == -__builtin_inff()) {
    t.correction = 0.0f;  // e^-infinity
  } else if (maximum != t.maximum) {
    t.correction = scalar_exp(t.maximum - maximum);
  }
  const F32x16 offset = set1(maximum);
  F32x16 sum = zero();
  for (size_t i = 0; i < t.width; i += kLanes) {
    F32x16 e = zero();
    if (i + kLanes <= t.visible) {
      e = exp(load(t.scores + i) - offset);
    } else if (i < t.visible) {
      e = select(first_lanes(t.visible - i), exp(load_partial(t.scores + i, t.visible - i) - offset), zero());
    }
    store_some(t.scores + i, t.width - i < kLanes ? t.width - i : kLanes, e);
    sum = sum + e;
  }
  t.sum = t.sum * t.correction + reduce_add(sum);
  t.maximum = maximum;
}

}  // namespace

extern const AttentionTable kAttentionTable;
constexpr AttentionTable kAttentionTable = {weigh};

}  // namespace sardonyx::kernels::SARDONYX_VARIANT
