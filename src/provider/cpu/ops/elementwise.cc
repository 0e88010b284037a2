#include "provider/cpu/families.h"

namespace sardonyx::provider::cpu {

void add_elementwise_kernels(KernelTable& table) {
  add_unary_kernels(table);
  add_number_unary_kernels(table);
  add_arithmetic_kernels(table);
  add_pow_kernels(table);
  add_variadic_kernels(table);
  add_where_kernels(table);
  add_cast_kernels(table);
  add_fast_gelu_kernels(table);
}

}  // namespace sardonyx::provider::cpu
