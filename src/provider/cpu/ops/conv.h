#pragma once

#include "provider/cpu/kernel_list.h"

namespace sardonyx::provider::cpu {

// The parts of the convolution family; each adds its rows to the table.
void add_float_conv_kernels(KernelTable& table);      // float_conv.cc: Conv
void add_integer_conv_kernels(KernelTable& table);    // integer_conv.cc: ConvInteger, QLinearConv
void add_conv_transpose_kernels(KernelTable& table);  // conv_transpose.cc
void add_deform_conv_kernels(KernelTable& table);     // deform_conv.cc
void add_col2im_kernels(KernelTable& table);          // col2im.cc
void add_causal_conv_kernels(KernelTable& table);     // causal_conv.cc: CausalConvWithState

}  // namespace sardonyx::provider::cpu
