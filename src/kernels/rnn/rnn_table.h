#pragma once

#include <stddef.h>

namespace sardonyx::kernels {

/// One step of one sequence of an LSTM with sigmoid gates and tanh.
struct LstmRow {
  const float* gates;      ///< [4 * hidden] input, output, forget, cell: products and biases
  const float* peepholes;  ///< [3 * hidden] input, output, forget; or null
  float* c;                ///< [hidden] in and out
  float* h;                ///< [hidden] out
  size_t hidden;
  float clip;         ///< 0: none
  bool input_forget;  ///< the forget gate is 1 - input gate
};

/// One step of one sequence of a GRU with sigmoid gates and tanh.
struct GruRow {
  float* gates;         ///< [3 * hidden] update, reset, hidden
  const float* linear;  ///< [hidden] what the reset gate scales (linear_before_reset), or null
  float* h;             ///< [hidden] in and out
  float* reset_h;       ///< [hidden] out of the first part: reset gate * h; or null
  size_t hidden;
  float clip;
};

struct RnnTable {
  void (*lstm)(const LstmRow& row);
  void (*gru_gates)(const GruRow& row);
  void (*gru_state)(const GruRow& row);
};

}  // namespace sardonyx::kernels
