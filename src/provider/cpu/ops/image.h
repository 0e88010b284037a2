#pragma once

#include "provider/cpu/kernel_list.h"

namespace sardonyx::provider::cpu {

// The parts of the image family; each adds its rows to the table.
void add_resize_kernels(KernelTable& table);         // resize.cc
void add_grid_kernels(KernelTable& table);           // grid.cc: GridSample, AffineGrid
void add_suppression_kernels(KernelTable& table);    // suppression.cc: NonMaxSuppression
void add_image_decoder_kernels(KernelTable& table);  // image_decoder.cc

}  // namespace sardonyx::provider::cpu
