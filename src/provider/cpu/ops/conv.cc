#include "provider/cpu/ops/conv.h"

namespace sardonyx::provider::cpu {

void add_conv_kernels(KernelTable& table) {
  add_float_conv_kernels(table);
  add_integer_conv_kernels(table);
  add_conv_transpose_kernels(table);
  add_deform_conv_kernels(table);
  add_col2im_kernels(table);
  add_causal_conv_kernels(table);
}

}  // namespace sardonyx::provider::cpu
