#pragma once

#include "provider/cpu/kernel_list.h"

namespace sardonyx::provider::cpu {

// The parts of the norm family; each adds its rows to the table.
void add_softmax_kernels(KernelTable& table);       // softmax.cc: Softmax, LogSoftmax, Hardmax
void add_layer_norm_kernels(KernelTable& table);    // layer_norm.cc: LayerNormalization, RMSNormalization
void add_channel_norm_kernels(KernelTable& table);  // channel_norm.cc: Batch-, Instance-, GroupNormalization
void add_other_norm_kernels(KernelTable& table);    // other_norm.cc: LpNormalization, MeanVarianceNormalization, LRN
void add_dropout_kernels(KernelTable& table);       // dropout.cc

}  // namespace sardonyx::provider::cpu
