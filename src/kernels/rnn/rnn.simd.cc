#include "kernels/rnn/rnn_table.h"
#include "kernels/simd/math.h"

namespace sardonyx::kernels::SARDONYX_VARIANT {
namespace {

SARDONYX_INLINE F32x16 clip_to(F32x16 x, float clip) { return clip > 0.0f ? min(set1(clip), max(set1(-clip), x)) : x; }
SARDONYX_INLINE F32x16 gate(F32x16 x, float clip) { return sigmoid(clip_to(x, clip)); }

void lstm(const LstmRow& r) {
  for (size_t i = 0; i < r.hidden; i += kLanes) {
    const size_t n = r.hidden - i < kLanes ? r.hidden - i : kLanes;
    const auto gate_of = [&](size_t index) { return load_partial(r.gates + index * r.hidden + i, n); };
    const auto peephole = [&](size_t index) { return load_partial(r.peepholes + index * r.hidden + i, n); };
    F32x16 c = load_partial(r.c + i, n);
    F32x16 in = gate_of(0), out = gate_of(1), forget = gate_of(2);
    if (r.peepholes != nullptr) {
      in = fma(peephole(0), c, in);
      forget = fma(peephole(2), c, forget);
    }
    in = gate(in, r.clip);
    forget = r.input_forget ? set1(1.0f) - in : gate(forget, r.clip);
    c = fma(forget, c, in * tanh(clip_to(gate_of(3), r.clip)));
    if (r.peepholes != nullptr) out = fma(peephole(1), c, out);
    store_partial(r.c + i, n, c);
    store_partial(r.h + i, n, gate(out, r.clip) * tanh(c));
  }
}

void gru_gates(const GruRow& r) {
  for (size_t i = 0; i < r.hidden; i += kLanes) {
    const size_t n = r.hidden - i < kLanes ? r.hidden - i : kLanes;
    float* reset = r.gates + r.hidden + i;
    store_partial(r.gates + i, n, gate(load_partial(r.gates + i, n), r.clip));
    const F32x16 reset_gate = gate(load_partial(reset, n), r.clip);
    store_partial(reset, n, reset_gate);
    if (r.reset_h != nullptr) store_partial(r.reset_h + i, n, reset_gate * load_partial(r.h + i, n));
  }
}

void gru_state(const GruRow& r) {
  for (size_t i = 0; i < r.hidden; i += kLanes) {
    const size_t n = r.hidden - i < kLanes ? r.hidden - i : kLanes;
    const F32x16 update = load_partial(r.gates + i, n);
    F32x16 hidden = load_partial(r.gates + 2 * r.hidden + i, n);
    if (r.linear != nullptr) hidden = fma(load_partial(r.gates + r.hidden + i, n), load_partial(r.linear + i, n), hidden);
    hidden = tanh(clip_to(hidden, r.clip));
    const F32x16 h = load_partial(r.h + i, n);
    store_partial(r.h + i, n, fma(update, h, (set1(1.0f) - update) * hidden));
  }
}

}  // namespace

extern const RnnTable kRnnTable;
constexpr RnnTable kRnnTable = {lstm, gru_gates, gru_state};

}  // namespace sardonyx::kernels::SARDONYX_VARIANT
