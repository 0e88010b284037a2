#pragma once

#include <cstddef>

#include "kernels/rnn/rnn_table.h"

namespace sardonyx::kernels {

// The part of a recurrent step that follows the matrix products, for the default activations, in one pass over the gates. A
// layer runs as: all X Wᵀ + biases by one gemm(); then per step h Rᵀ by gemm() with that as the residual, and one of these per
// sequence.

/// c = f * c + i * g, h = o * tanh(c); see LstmRow.
void lstm_row(const LstmRow& row);

/// Update and reset gates in place, and reset_h where given.
void gru_gates_row(const GruRow& row);

/// The hidden gate (plus reset * linear where given) and h = (1 - z) * n + z * h. The gates must have been through
/// gru_gates_row.
void gru_state_row(const GruRow& row);

}  // namespace sardonyx::kernels
