#include "kernels/rnn/rnn.h"

#include "kernels/simd/dispatch.h"

namespace sardonyx::kernels {

SARDONYX_VARIANTS(RnnTable, kRnnTable);

void lstm_row(const LstmRow& row) { kRnnTableVariants.get().lstm(row); }
void gru_gates_row(const GruRow& row) { kRnnTableVariants.get().gru_gates(row); }
void gru_state_row(const GruRow& row) { kRnnTableVariants.get().gru_state(row); }

}  // namespace sardonyx::kernels
