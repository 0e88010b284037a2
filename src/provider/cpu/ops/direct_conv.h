#pragma once

#include <algorithm>
#include <type_traits>

#include "provider/cpu/ops/axis_view.h"
#include "provider/cpu/ops/conv_geometry.h"
#include "provider/kernel.h"

namespace sardonyx::provider::cpu {

/// A convolution of any rank, group, stride and dilation without rearranging its data. X: data, W: weights, A:
/// accumulators. Per output element the products are added in the order channel block of 16, kernel position, channel
/// in block; padding is skipped.
template <typename X, typename W, typename A>
class DirectConv {
 public:
  static constexpr std::int64_t kChannels = 4;  ///< output channels computed together
  static constexpr std::int64_t kTile = 128;    ///< outputs of a row computed together

  const ConvGeometry& geometry;
  const X* x;
  const W* w;
  A x_zero = 0;                ///< integers: subtracted from the data
  const A* w_zeros = nullptr;  ///< integers: subtracted from the weights, per output channel; null: none

  /// Calls store(channel, offset, sums, count) for each run of outputs: `channel` counts over all groups, `offset` is
  /// the position of the first in output memory [N, M, …]. Every output is stored once.
  template <typename Store>
  void run(const Parallel& parallel, Store&& store) const {
    const ConvGeometry& g = geometry;
    const std::int64_t row = g.axes.back().out;
    if (g.batch * g.groups * g.out_channels * g.out_size == 0) return;
    const std::int64_t rows = g.out_size / row, blocks = (g.out_channels + kChannels - 1) / kChannels;
    const auto items = static_cast<std::size_t>(g.batch * g.groups * blocks * rows);
    const auto cost = static_cast<std::size_t>(row * kChannels * g.in_channels * g.taps);
    parallel.parallel_for(items, chunk_of(cost, 65536), [&](std::size_t begin, std::size_t end) {
      for (auto item = static_cast<std::int64_t>(begin); item < static_cast<std::int64_t>(end); ++item) {
        const std::int64_t block = item / rows % blocks, outer = item / rows / blocks;
        compute_row(outer / g.groups, outer % g.groups, block * kChannels, item % rows, store);
      }
    });
  }

 private:
  using Sums = A[kChannels][kTile];

  template <typename Store>
  void compute_row(std::int64_t n, std::int64_t group, std::int64_t first, std::int64_t row, Store& store) const {
    const ConvGeometry& g = geometry;
    const std::int64_t count = std::min(kChannels, g.out_channels - first), width = g.axes.back().out;
    for (std::int64_t column = 0; column < width; column += kTile) {
      const std::int64_t tile = std::min(kTile, width - column);
      Sums sums;
      for (std::int64_t m = 0; m < count; ++m) std::fill_n(sums[m], tile, A(0));
      for (std::int64_t channel = 0; channel < g.in_channels; channel += 16) {
        const std::int64_t end = std::min<std::int64_t>(channel + 16, g.in_channels);
        add_channels({n, group, first, count, row, column, tile, channel, end}, sums);
      }
      for (std::int64_t m = 0; m < count; ++m) {
        const std::int64_t channel = group * g.out_channels + first + m;
        store(channel, (n * g.groups * g.out_channels + channel) * g.out_size + row * width + column, sums[m], tile);
      }
    }
  }

  struct Tile {
    std::int64_t n, group, first, count, row, column, width;
    std::int64_t channel_begin, channel_end;
  };

  void add_channels(const Tile& tile, Sums& sums) const {
    const SpatialAxis& last = geometry.axes.back();
    const std::int64_t outer_taps = geometry.taps / last.kernel;
    for (std::int64_t outer = 0; outer < outer_taps; ++outer) {
      const std::int64_t line = geometry.input_line(tile.row, outer);
      if (line < 0) continue;
      for (std::int64_t tap = 0; tap < last.kernel; ++tap) add_tap(tile, line, outer * last.kernel + tap, tap, sums);
    }
  }

  void add_tap(const Tile& tile, std::int64_t line, std::int64_t weight, std::int64_t tap, Sums& sums) const {
    const ConvGeometry& g = geometry;
    const SpatialAxis& axis = g.axes.back();
    const std::int64_t base = axis.position(tile.column, tap);
    const auto [low, high] = axis.inside(tile.column, tile.width, tap);
    for (std::int64_t c = tile.channel_begin; c < tile.channel_end; ++c) {
      const X* from = x + ((tile.n * g.groups + tile.group) * g.in_channels + c) * g.in_size + line + base;
      for (std::int64_t m = 0; m < tile.count; ++m) {
        const std::int64_t channel = tile.group * g.out_channels + tile.first + m;
        A factor = static_cast<A>(w[(channel * g.in_channels + c) * g.taps + weight]);
        if constexpr (std::is_integral_v<A>) factor -= w_zeros ? w_zeros[channel] : A(0);
        add_line(from, axis.stride, low, high, factor, sums[m]);
      }
    }
  }

  void add_line(const X* from, std::int64_t stride, std::int64_t low, std::int64_t high, A factor, A* sums) const {
    const auto value = [&](std::int64_t i) {
      if constexpr (std::is_integral_v<A>)
        return static_cast<A>(static_cast<A>(from[i]) - x_zero);
      else
        return static_cast<A>(from[i]);
    };
    if (stride == 1) {
      for (std::int64_t i = low; i < high; ++i) sums[i] += factor * value(i);
    } else {
      for (std::int64_t i = low; i < high; ++i) sums[i] += factor * value(i * stride);
    }
  }
};

}  // namespace sardonyx::provider::cpu
