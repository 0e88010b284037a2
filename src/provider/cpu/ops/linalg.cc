#include "provider/cpu/families.h"

namespace sardonyx::provider::cpu {

void add_linalg_kernels(KernelTable& table) {
  add_mat_mul_kernels(table);
  add_gemm_kernels(table);
  add_integer_mat_mul_kernels(table);
  add_scaled_mat_mul_kernels(table);
  add_mat_mul_n_bits_kernels(table);
  add_einsum_kernels(table);
  add_det_kernels(table);
}

}  // namespace sardonyx::provider::cpu
