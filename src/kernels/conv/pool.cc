#include "kernels/conv/pool.h"

#include <algorithm>
#include <limits>

#include "kernels/conv/conv_paths.h"
#include "kernels/conv/pool_table.h"
#include "kernels/simd/dispatch.h"

namespace sardonyx::kernels {

SARDONYX_VARIANTS(PoolTable, kPoolTable);

namespace {

/// Output columns whose tap `offset` columns into the window lies in [0, width): [begin, end).
struct Columns {
  std::size_t begin, end;
};
Columns columns_inside(const PoolShape& s, std::size_t kx) {
  const std::size_t at = kx * s.dilation_x;
  const std::size_t begin = at >= s.pad_left ? 0 : (s.pad_left - at + s.stride_x - 1) / s.stride_x;
  const std::size_t limit = s.in_width + s.pad_left;
  const std::size_t end = at >= limit ? 0 : std::min(s.out_width, (limit - at + s.stride_x - 1) / s.stride_x);
  return {std::min(begin, end), end};
}

/// Calls tap(input row, columns, first input column) for every kernel tap inside the input, in order.
template <typename Tap>
void for_taps(const PoolShape& s, const float* plane, std::size_t oy, Tap tap) {
  for (std::size_t ky = 0; ky < s.kernel_height; ++ky) {
    const std::size_t y = oy * s.stride_y + ky * s.dilation_y;
    if (y < s.pad_top || y - s.pad_top >= s.in_height) continue;
    const float* row = plane + (y - s.pad_top) * s.in_width;
    for (std::size_t kx = 0; kx < s.kernel_width; ++kx) {
      const Columns columns = columns_inside(s, kx);
      if (columns.begin < columns.end) tap(row, columns, columns.begin * s.stride_x + kx * s.dilation_x - s.pad_left);
    }
  }
}

/// Kernel taps of window `o` that lie in [low, high) of the padded axis.
std::size_t taps_inside(std::size_t o, std::size_t kernel, std::size_t stride, std::size_t dilation, std::size_t low,
                        std::size_t high) {
  std::size_t count = 0;
  for (std::size_t k = 0; k < kernel; ++k) {
    const std::size_t at = o * stride + k * dilation;
    count += at >= low && at < high ? 1 : 0;
  }
  return count;
}

template <typename Body>
void for_rows(const PoolShape& s, Parallel parallel, Body body) {
  const std::size_t taps = std::max<std::size_t>(1, s.out_width * s.kernel_height * s.kernel_width);
  const std::size_t chunk = std::max<std::size_t>(1, (std::size_t{1} << 16) / taps);
  parallel.parallel_for(s.planes * s.out_height, chunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) body(i / s.out_height, i % s.out_height);
  });
}

/// Of wide planes and windows, without a workspace.
void max_pool_by_taps(const PoolShape& s, const float* x, float* y, Parallel parallel) {
  for_rows(s, parallel, [&](std::size_t plane, std::size_t oy) {
    float* out = y + (plane * s.out_height + oy) * s.out_width;
    std::fill_n(out, s.out_width, -std::numeric_limits<float>::infinity());
    for_taps(s, x + plane * s.in_height * s.in_width, oy, [&](const float* row, Columns columns, std::size_t first) {
      for (std::size_t ox = columns.begin; ox < columns.end; ++ox) {
        const float value = row[first + (ox - columns.begin) * s.stride_x];
        out[ox] = value <= out[ox] || out[ox] != out[ox] ? out[ox] : value;
      }
    });
  });
}

}  // namespace

void max_pool(const PoolShape& s, const float* x, float* y, Parallel parallel) {
  constexpr std::size_t kMostFloats = 8192, kMostColumns = 32;
  // Windows may reach beyond the input on the right, where the borders are.
  const std::size_t reach = (s.kernel_width - 1) * s.dilation_x / s.stride_x + 1;
  const std::size_t widest = std::max(s.out_width, (s.in_width + s.pad_left) / s.stride_x + 1);
  const std::size_t phase_width = round_up(widest + reach + kConvLanes + 1, kConvLanes);
  const std::size_t tall = round_up(s.in_width, kConvLanes);
  if (tall + s.stride_x * phase_width > kMostFloats || s.kernel_width > kMostColumns)
    return max_pool_by_taps(s, x, y, parallel);
  std::size_t tap_offset[kMostColumns];
  for (std::size_t kx = 0; kx < s.kernel_width; ++kx) {
    tap_offset[kx] = kx * s.dilation_x % s.stride_x * phase_width + kx * s.dilation_x / s.stride_x;
  }
  const PoolTable& table = kPoolTableVariants.get();
  const std::size_t work = s.out_height * s.out_width * (s.kernel_height + s.kernel_width);
  const std::size_t chunk = std::max<std::size_t>(1, (std::size_t{1} << 16) / std::max<std::size_t>(work, 1));
  parallel.parallel_for(s.planes, chunk, [&](std::size_t begin, std::size_t end) {
    alignas(64) float memory[kMostFloats];
    MaxPoolPlane p = {};
    p.in_height = s.in_height, p.in_width = s.in_width;
    p.out_height = s.out_height, p.out_width = s.out_width;
    p.kernel_height = s.kernel_height, p.kernel_width = s.kernel_width;
    p.stride_y = s.stride_y, p.stride_x = s.stride_x;
    p.dilation_y = s.dilation_y;
    p.pad_top = s.pad_top, p.pad_left = s.pad_left;
    p.tap_offset = tap_offset;
    p.tall = memory;
    p.line = memory + tall;
    p.phase_width = phase_width;
    for (std::size_t plane = begin; plane < end; ++plane) {
      p.x = x + plane * s.in_height * s.in_width;
      p.y = y + plane * s.out_height * s.out_width;
      table.max_pool(p);
    }
  });
}

void average_pool(const PoolShape& s, bool count_include_pad, const float* x, float* y, Parallel parallel) {
  const std::size_t low_x = count_include_pad ? 0 : s.pad_left;
  const std::size_t low_y = count_include_pad ? 0 : s.pad_top;
  const std::size_t high_x = s.pad_left + s.in_width + (count_include_pad ? s.pad_right : 0);
  const std::size_t high_y = s.pad_top + s.in_height + (count_include_pad ? s.pad_bottom : 0);
  for_rows(s, parallel, [&](std::size_t plane, std::size_t oy) {
    float* out = y + (plane * s.out_height + oy) * s.out_width;
    std::fill_n(out, s.out_width, 0.0f);
    for_taps(s, x + plane * s.in_height * s.in_width, oy, [&](const float* row, Columns columns, std::size_t first) {
      for (std::size_t ox = columns.begin; ox < columns.end; ++ox)
        out[ox] += row[first + (ox - columns.begin) * s.stride_x];
    });
    const std::size_t rows = taps_inside(oy, s.kernel_height, s.stride_y, s.dilation_y, low_y, high_y);
    for (std::size_t ox = 0; ox < s.out_width; ++ox) {
      const std::size_t count = rows * taps_inside(ox, s.kernel_width, s.stride_x, s.dilation_x, low_x, high_x);
      out[ox] = count == 0 ? 0.0f : out[ox] / static_cast<float>(count);
    }
  });
}

}  // namespace sardonyx::kernels
