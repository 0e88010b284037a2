#include "kernels/rnn/rnn.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/simd/isa_test_util.h"

namespace sardonyx::kernels {
namespace {

std::vector<float> wave(std::size_t n, float step) {
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = 3.0f * std::sin(static_cast<float>(i) * step);
  return x;
}
double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }
double clip_of(double x, double clip) { return clip > 0 ? std::clamp(x, -clip, clip) : x; }

TEST(Rnn, LstmStep) {
  for (std::size_t hidden : {1, 15, 16, 33}) {
    const std::vector<float> gates = wave(4 * hidden, 0.37f), peepholes = wave(3 * hidden, 0.11f), state = wave(hidden, 0.7f);
    for (int form = 0; form < 8; ++form) {
      const bool peep = form & 1, couple = form & 2;
      const float clip = form & 4 ? 0.9f : 0.0f;
      std::vector<float> first;
      for (Isa isa : runnable_isas()) {
        const ScopedIsa scope(isa);
        std::vector<float> c = state, h(hidden);
        lstm_row({gates.data(), peep ? peepholes.data() : nullptr, c.data(), h.data(), hidden, clip, couple});
        if (first.empty()) first = h;
        EXPECT_EQ(first, h) << name(isa);
        for (std::size_t i = 0; i < hidden; ++i) {
          const double p[3] = {peep ? peepholes[i] : 0.0, peep ? peepholes[hidden + i] : 0.0, peep ? peepholes[2 * hidden + i] : 0.0};
          const double in = sigmoid_of(clip_of(gates[i] + p[0] * state[i], clip));
          const double forget = couple ? 1 - in : sigmoid_of(clip_of(gates[2 * hidden + i] + p[2] * state[i], clip));
          const double want_c = forget * state[i] + in * std::tanh(clip_of(gates[3 * hidden + i], clip));
          const double out = sigmoid_of(clip_of(gates[hidden + i] + p[1] * want_c, clip));
          EXPECT_NEAR(c[i], want_c, 1e-6);
          EXPECT_NEAR(h[i], out * std::tanh(want_c), 1e-6);
        }
      }
    }
  }
}

TEST(Rnn, GruStep) {
  for (std::size_t hidden : {1, 16, 21}) {
    const std::vector<float> start = wave(3 * hidden, 0.37f), linear = wave(hidden, 0.9f), state = wave(hidden, 0.7f);
    for (bool with_linear : {false, true}) {
      std::vector<float> first;
      for (Isa isa : runnable_isas()) {
        const ScopedIsa scope(isa);
        std::vector<float> gates = start, h = state, reset_h(hidden);
        const GruRow row{gates.data(), with_linear ? linear.data() : nullptr, h.data(), reset_h.data(), hidden, 0.0f};
        gru_gates_row(row);
        gru_state_row(row);
        if (first.empty()) first = h;
        EXPECT_EQ(first, h) << name(isa);
        for (std::size_t i = 0; i < hidden; ++i) {
          const double z = sigmoid_of(start[i]), r = sigmoid_of(start[hidden + i]);
          const double n = std::tanh(start[2 * hidden + i] + (with_linear ? r * linear[i] : 0));
          EXPECT_NEAR(reset_h[i], r * state[i], 1e-6);
          EXPECT_NEAR(h[i], (1 - z) * n + z * state[i], 1e-6);
        }
      }
    }
  }
}

}  // namespace
}  // namespace sardonyx::kernels
