#include <algorithm>
#include <cstdint>

#include "kernels/conv/conv_paths.h"
#include "kernels/conv/direct_conv_table.h"
#include "kernels/math/elementwise.h"
#include "kernels/simd/dispatch.h"

namespace sardonyx::kernels {

SARDONYX_VARIANTS(DirectConvTable, kDirectConvTable);

namespace {

/// Of a copied band, about: it shares the second-level cache with the weights.
constexpr std::size_t kBandFloats = std::size_t{96} << 10;

/// Bands of output rows, and the copy of the input that one of them sees. Of a flat convolution a band is a piece of
/// the one long row.
struct Bands {
  bool flat;
  std::size_t pitch;       ///< floats from one copied pixel to the next
  std::size_t out_height;  ///< of the convolution
  std::size_t out_width;
  std::size_t size;  ///< output rows of a band, or its pixels where flat; the last may have fewer
  std::size_t count;
  std::size_t columns;      ///< copied pixels of an input row
  std::size_t row_step;     ///< copied rows from one output row to the next
  std::size_t copied_rows;  ///< of a whole band

  explicit Bands(const ConvShape& s) : flat(is_flat(s)), out_height(s.out_height()), out_width(s.out_width()) {
    // Blocks of 16 channels, an odd number of them: pixels of a tile would else fall into few sets of the cache.
    const std::size_t blocks = divide_up(group_in(s), kConvChannelBlock);
    pitch = group_in(s) < kConvChannelBlock ? group_in(s) : kConvChannelBlock * (blocks | 1);
    if (flat) {
      out_width *= out_height;
      out_height = 1;
      split(out_width, std::max<std::size_t>(1, kBandFloats / pitch));
      columns = size;
      row_step = copied_rows = 1;
      return;
    }
    columns = (out_width - 1) * s.stride_x + (s.kernel_width - 1) * s.dilation_x + 1;
    row_step = s.kernel_height == 1 ? 1 : s.stride_y;
    const std::size_t reach = (s.kernel_height - 1) * s.dilation_y + 1;
    const std::size_t fit = kBandFloats / (columns * pitch);
    split(out_height, fit <= reach ? 1 : (fit - reach) / row_step + 1);
    copied_rows = (size - 1) * row_step + reach;
  }

  std::size_t floats() const { return round_up(copied_rows * columns * pitch, kConvLanes) + kConvLanes; }

 private:
  void split(std::size_t n, std::size_t most) {
    count = divide_up(n, most);
    size = divide_up(n, count);
    count = divide_up(n, size);
  }
};

std::size_t tap_run_count(const ConvShape& s) {
  return divide_up(group_in(s), kConvChannelBlock) * s.kernel_height * s.kernel_width;
}
std::size_t tap_run_floats(const ConvShape& s) {
  return round_up(tap_run_count(s) * sizeof(TapRun) / sizeof(float), kConvLanes);
}

/// What a thread holds: which band its copy is of, the taps, and the copy.
struct ThreadMemory {
  std::uint64_t* band;
  TapRun* runs;
  float* copy;

  ThreadMemory(const ConvShape& s, float* workspace)
      : band(reinterpret_cast<std::uint64_t*>(workspace)),
        runs(reinterpret_cast<TapRun*>(workspace + kConvLanes)),
        copy(workspace + kConvLanes + tap_run_floats(s)) {}
};

class DirectRun {
 public:
  static constexpr std::uint64_t kNoBand = ~std::uint64_t{0};

  DirectRun(const ConvShape& s, const float* x, const float* packed, float* y, const ConvEpilogue& epilogue)
      : s_(s), x_(x), packed_(packed), y_(y), epilogue_(epilogue) {
    activation_ = activation_of(epilogue.activation, epilogue.alpha, epilogue.beta);
  }

  const Bands& bands() const { return bands_; }
  std::size_t panels() const { return panel_count(s_, kernel_); }

  /// Panels [first, end) of one band. Bands are numbered through groups and images.
  void run(std::uint64_t band, std::size_t first, std::size_t end, const ThreadMemory& memory) const {
    const std::size_t index = band % bands_.count;
    const std::size_t group = band / bands_.count % s_.groups;
    const std::size_t image = band / bands_.count / s_.groups;
    const std::size_t begin = index * bands_.size;
    const std::size_t size = std::min(bands_.size, (bands_.flat ? bands_.out_width : bands_.out_height) - begin);
    if (*memory.band != band) {
      const float* planes = x_ + (image * s_.in_channels + group * group_in(s_)) * s_.in_height * s_.in_width;
      bands_.flat ? copy_pixels(planes, begin, size, memory.copy) : copy_rows(planes, begin, size, memory.copy);
      *memory.band = band;
    }
    const std::size_t run_count = find_runs(memory.runs);
    for (std::size_t i = first; i < end; ++i) {
      run_panel(image, group, i, begin, size, memory, run_count);
    }
  }

 private:
  void copy_pixels(const float* planes, std::size_t begin, std::size_t count, float* out) const {
    table_.copy_pixels({planes + begin, s_.in_height * s_.in_width, group_in(s_), count, out, bands_.pitch});
  }

  /// The rows that output rows [begin, begin + size) see, zeros where they lie outside.
  void copy_rows(const float* planes, std::size_t begin, std::size_t size, float* out) const {
    const std::size_t row_floats = bands_.columns * bands_.pitch;
    const std::size_t rows = (size - 1) * bands_.row_step + (bands_.copied_rows - (bands_.size - 1) * bands_.row_step);
    const std::size_t left = std::min(s_.pad_left, bands_.columns);
    const std::size_t inside = std::min(s_.in_width, bands_.columns - left);
    for (std::size_t r = 0; r < rows; ++r, out += row_floats) {
      const std::size_t padded = s_.kernel_height == 1 ? (begin + r) * s_.stride_y : begin * s_.stride_y + r;
      if (padded < s_.pad_top || padded >= s_.pad_top + s_.in_height) {
        std::fill_n(out, row_floats, 0.0f);
        continue;
      }
      std::fill_n(out, left * bands_.pitch, 0.0f);
      const float* row = planes + (padded - s_.pad_top) * s_.in_width;
      table_.copy_pixels(
          {row, s_.in_height * s_.in_width, group_in(s_), inside, out + left * bands_.pitch, bands_.pitch});
      std::fill_n(out + (left + inside) * bands_.pitch, (bands_.columns - left - inside) * bands_.pitch, 0.0f);
    }
  }

  /// Taps in the order of conv.h; neighbours in memory become one. Returns how many there are.
  std::size_t find_runs(TapRun* runs) const {
    std::size_t used = 0;
    for (std::size_t c = 0; c < group_in(s_); c += kConvChannelBlock) {
      const std::size_t channels = std::min(kConvChannelBlock, group_in(s_) - c);
      for (std::size_t ky = 0; ky < s_.kernel_height; ++ky) {
        for (std::size_t kx = 0; kx < s_.kernel_width; ++kx) {
          const std::size_t pixel = ky * s_.dilation_y * bands_.columns + kx * s_.dilation_x;
          const auto offset = static_cast<std::ptrdiff_t>(pixel * bands_.pitch + c);
          if (used > 0 && runs[used - 1].offset + static_cast<std::ptrdiff_t>(runs[used - 1].count) == offset) {
            runs[used - 1].count += channels;
          } else {
            runs[used++] = {offset, channels};
          }
        }
      }
    }
    return used;
  }

  void run_panel(std::size_t image, std::size_t group, std::size_t i, std::size_t begin, std::size_t size,
                 const ThreadMemory& memory, std::size_t run_count) const {
    const WeightPanel panel = weight_panel(s_, kernel_, packed_, group, i);
    const std::size_t rows = bands_.flat ? 1 : size;
    const std::size_t width = bands_.flat ? size : bands_.out_width;
    const std::size_t tiles = divide_up(width, static_cast<std::size_t>(table_.max_rows));
    const std::size_t plane = bands_.out_height * bands_.out_width;
    DirectTile tile = {};
    tile.pixel_stride = static_cast<std::ptrdiff_t>(s_.stride_x * bands_.pitch);
    tile.runs = memory.runs;
    tile.run_count = run_count;
    tile.weights = panel.weights;
    tile.bias = epilogue_.bias == nullptr ? nullptr : epilogue_.bias + panel.first;
    tile.channels = panel.count;
    tile.plane = plane;
    tile.residual_last = epilogue_.residual_after_activation;
    tile.activation = activation_;
    const std::size_t planes = (image * s_.out_channels + panel.first) * plane;
    tile.row_stride = static_cast<std::ptrdiff_t>(bands_.row_step * bands_.columns * bands_.pitch);
    const std::size_t vectors = panel.width / kConvLanes;
    // The first tiles fetch the panel after this one, which is likely this thread's next: each a share, or they would
    // ask for more than memory gives in that time.
    constexpr std::size_t kFetchers = 4;
    const bool pairs = fits_two_rows(width);
    const std::size_t fetchers = std::min(kFetchers, pairs ? rows / 2 + rows % 2 * tiles : rows * tiles);
    const bool is_last = i + 1 == panels() && group + 1 == s_.groups;
    const char* next = reinterpret_cast<const char*>(panel.weights + group_k(s_) * panel.width);
    tile.prefetch_step = divide_up(panel.width * sizeof(float), fetchers);
    std::size_t fetched = is_last ? fetchers : 0;
    const auto run_tile = [&](const DirectTileFunction(&functions)[2][3], std::size_t row, std::size_t pixel) {
      const std::size_t at = planes + (bands_.flat ? begin : (begin + row) * bands_.out_width) + pixel;
      tile.x = memory.copy + static_cast<std::ptrdiff_t>(row) * tile.row_stride +
               static_cast<std::ptrdiff_t>(pixel) * tile.pixel_stride;
      tile.y = y_ + at;
      tile.residual = epilogue_.residual == nullptr ? nullptr : epilogue_.residual + at;
      const std::size_t lines = fetched == fetchers ? 0 : divide_up(tile.prefetch_step, 64);
      tile.prefetch = next + fetched * tile.prefetch_step * group_k(s_);
      functions[vectors - 1][lines](tile);
      if (fetched < fetchers) ++fetched;
    };
    std::size_t row = 0;
    if (pairs) {
      for (; row + 2 <= rows; row += 2) run_tile(table_.two_rows[width - 1], row, 0);
    }
    for (; row < rows; ++row) {
      for (std::size_t t = 0; t < tiles; ++t) {
        const std::size_t pixel = part_begin(width, tiles, t);
        run_tile(table_.tile[part_begin(width, tiles, t + 1) - pixel - 1], row, pixel);
      }
    }
  }

  bool fits_two_rows(std::size_t width) const {
    return width >= kDirectMinHalf && 2 * width <= static_cast<std::size_t>(table_.max_rows);
  }

  const ConvShape& s_;
  const float* x_;
  const float* packed_;
  float* y_;
  const ConvEpilogue& epilogue_;
  const GemmKernel& kernel_ = active_gemm_kernel();
  const DirectConvTable& table_ = kDirectConvTableVariants.get();
  Activation activation_;
  Bands bands_{s_};
};

}  // namespace

bool suits_direct(const ConvShape& s) {
  const std::size_t channels = group_out(s), width = s.out_width();
  constexpr std::size_t kShortRow = 4;
  if (5 * round_up(channels, kConvLanes) > 8 * channels) return false;  // too many lanes would stay empty
  return is_flat(s) ? width * s.out_height() >= kShortRow : width >= kShortRow;
}

std::size_t direct_workspace(const ConvShape& s) { return kConvLanes + tap_run_floats(s) + Bands(s).floats(); }

void run_direct(const ConvShape& s, const float* x, const float* packed, float* y, const ConvEpilogue& epilogue,
                float* workspace, Parallel parallel) {
  const DirectRun run(s, x, packed, y, epilogue);
  const std::size_t size = direct_workspace(s);
  for (int i = 0; i < std::max(parallel.max_threads, 1); ++i) {
    *ThreadMemory(s, workspace + size * static_cast<std::size_t>(i)).band = DirectRun::kNoBand;
  }
  // Few bands: split the output channels too, though more threads then copy the same band.
  const std::size_t bands = s.batch * s.groups * run.bands().count;
  const std::size_t blocks = std::min(run.panels(), divide_up(16, bands));
  const std::size_t work =
      group_k(s) * divide_up(s.out_height() * s.out_width(), run.bands().count) * divide_up(group_out(s), blocks);
  const std::size_t chunk = std::max<std::size_t>(1, (std::size_t{1} << 20) / std::max<std::size_t>(work, 1));
  parallel.parallel_for_participants(bands * blocks, chunk, [&](std::size_t begin, std::size_t end, int participant) {
    const ThreadMemory memory(s, workspace + size * static_cast<std::size_t>(participant));
    for (std::size_t i = begin; i < end; ++i) {
      run.run(i / blocks, part_begin(run.panels(), blocks, i % blocks),
              part_begin(run.panels(), blocks, i % blocks + 1), memory);
    }
  });
}

}  // namespace sardonyx::kernels
