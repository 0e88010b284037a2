#include "provider/cpu/ops/image.h"

namespace sardonyx::provider::cpu {

void add_image_kernels(KernelTable& table) {
  add_resize_kernels(table);
  add_grid_kernels(table);
  add_suppression_kernels(table);
  add_image_decoder_kernels(table);
}

}  // namespace sardonyx::provider::cpu
