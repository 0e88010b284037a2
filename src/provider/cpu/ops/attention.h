#pragma once

#include "provider/cpu/kernel_list.h"

namespace sardonyx::provider::cpu {

// The parts of the attention family; each adds its rows to the table.
void add_dot_attention_kernels(KernelTable& table);     // dot_attention.cc: Attention
void add_rotary_embedding_kernels(KernelTable& table);  // rotary_embedding.cc
void add_linear_attention_kernels(KernelTable& table);  // linear_attention.cc

}  // namespace sardonyx::provider::cpu
