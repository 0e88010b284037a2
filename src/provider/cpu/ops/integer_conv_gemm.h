#pragma once

#include <cstdint>

#include "kernels/gemm/integer_gemm.h"
#include "provider/cpu/ops/conv_geometry.h"
#include "provider/kernel.h"

namespace sardonyx::provider::cpu {

/// An 8-bit convolution as integer matrix products over tiles of output positions: rows of inputs under the window
/// times the weights. For constant weights and groups wide enough to pay for it; exact, as every way to compute it is.
class IntegerConvGemm {
 public:
  /// Whether a convolution with `taps` kernel elements and these channels per group is better off as products.
  static bool pays(std::int64_t in_channels, std::int64_t out_channels, std::int64_t taps);

  /// Weights [M, C / groups, …] packed group by group.
  static PackRequest pack_request(std::size_t input, const Tensor& weights, std::int64_t groups);

  /// Workspace for up to `max_threads` threads.
  static std::size_t workspace_bytes(const ConvGeometry& geometry, int max_threads);

  const ConvGeometry& geometry;
  const void* x;
  bool x_signed;
  std::int32_t x_zero;
  const std::byte* packed_weights;
  bool w_signed;
  const std::int32_t* w_zeros;  ///< per output channel over all groups, or null
  kernels::IntegerOutput output;
  kernels::IntegerEpilogue epilogue;  ///< parameters per output channel over all groups
  void* y;                            ///< [N, M, …]
  std::byte* workspace;
  int max_threads;

  void run(Parallel parallel) const;

 private:
  struct Scratch;
  void run_tile(std::int64_t item, std::int64_t tile, const Scratch& scratch) const;
  void gather_rows(std::int64_t n, std::int64_t group, std::int64_t first, std::int64_t count,
                   std::uint8_t* rows) const;
};

}  // namespace sardonyx::provider::cpu
