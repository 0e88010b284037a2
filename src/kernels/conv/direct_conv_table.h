#pragma once

#include <stddef.h>

#include "kernels/math/elementwise_table.h"

namespace sardonyx::kernels {

/// Pixels of one row of some planes, to be written with the channels of a pixel side by side.
struct PixelCopy {
  const float* x;  ///< first pixel of the first channel
  size_t plane;    ///< floats from one channel to the next
  size_t channels, columns;
  float* out;
  size_t pitch;  ///< floats from one pixel to the next in `out`
};

/// Values that lie side by side in the copied input, as seen from the first pixel's first tap.
struct TapRun {
  ptrdiff_t offset;
  size_t count;
};

/// Some pixels of one output row, or two whole short rows, times 16 or 32 output channels.
struct DirectTile {
  const float* x;
  ptrdiff_t pixel_stride;  ///< floats from one output pixel's input to the next's
  ptrdiff_t row_stride;    ///< of two rows: from the first's input to the second's
  const TapRun* runs;      ///< k in the order of conv.h
  size_t run_count;
  const float* weights;   ///< a panel: 16 or 32 per k
  const char* prefetch;   ///< memory to prefetch, or null
  size_t prefetch_step;   ///< bytes of it per k, at most as many as `weights` has
  const float* bias;      ///< per channel, or null
  size_t channels;        ///< that exist; the panel's others are computed and dropped
  float* y;               ///< first pixel of the first channel
  size_t plane;           ///< floats from one channel to the next, in y and in the residual
  const float* residual;  ///< like y, or null
  bool residual_last;     ///< after the activation
  Activation activation;
};

using DirectTileFunction = void (*)(const DirectTile& tile);

inline constexpr int kDirectMaxRows = 14, kDirectMinHalf = 4;

struct DirectConvTable {
  int max_rows;  ///< pixels of the largest tile
  /// By pixels - 1, vectors of 16 channels - 1, and how many cache lines are prefetched per k: 0, up to 1, 2. Null
  /// beyond the maxima.
  DirectTileFunction tile[kDirectMaxRows][2][3];
  /// The same for two rows of so many pixels each, from kDirectMinHalf on.
  DirectTileFunction two_rows[kDirectMaxRows / 2][2][3];
  void (*copy_pixels)(const PixelCopy& copy);
};

}  // namespace sardonyx::kernels
